/* SPDX-License-Identifier: Apache-2.0 */
#include "common/formats/foldedwrite.h"

#include "common/arena.h"

#include <stdlib.h>

/* Text of the current stack of the walk, with a ';' after each frame. The walk appends a frame when it goes to a
 * callee, and removes it when it goes back. */
struct writer {
	char *text; /* text of the frames; always has space for TAIL more bytes */
	size_t cap;
	struct writer_frame {
		size_t end; /* offset in text after the frame and its ';' */
		uint32_t node;
	} * at; /* frames by depth; at[0] is the root, which has no text */
	size_t at_cap;
};

#define TAIL 43 /* space in bytes for two weights, a blank before each, and a newline: 2 * 21 + 1 */

static void writer_deeper(struct writer *writer)
{
	writer->at_cap = writer->at_cap ? writer->at_cap * 2 : 256;
	writer->at = mem_grow(writer->at, sizeof(*writer->at), writer->at_cap);
}

static void writer_longer(struct writer *writer, size_t n)
{
	writer->cap = n * 2;
	writer->text = mem_grow(writer->text, 1, writer->cap);
}

/* Changes the text to the stack of node id, the next node of the walk. depth: depth of the previous node. Returns the
 * depth of id. */
static size_t writer_next(struct writer *writer, const struct stacks *stacks, size_t depth, uint32_t id)
{
	const struct stacks_node *node = &stacks->node[id];
	struct str frame = intern_str(&stacks->frames, node->frame);
	size_t from;

	while (writer->at[depth].node != node->parent)
		depth--;
	from = writer->at[depth].end;
	if (unlikely(++depth == writer->at_cap))
		writer_deeper(writer);
	if (unlikely(from + frame.n + 1 + TAIL > writer->cap))
		writer_longer(writer, from + frame.n + 1 + TAIL);
	if (frame.n)
		/* NOLINTNEXTLINE(clang-analyzer-core.*): writer_longer() allocates text */
		memcpy(writer->text + from, frame.p, frame.n);
	/* NOLINTNEXTLINE(clang-analyzer-core.*): writer_longer() allocates text */
	writer->text[from + frame.n] = ';';
	writer->at[depth] = (struct writer_frame){ from + frame.n + 1, id };
	return depth;
}

static char *foldedwrite_put_weight(char *p, uint64_t weight)
{
	size_t n = 1;

	for (uint64_t left = weight / 10; left; left /= 10)
		n++;
	*p = ' ';
	for (size_t i = n; i; weight /= 10)
		p[i--] = (char)('0' + weight % 10);
	return p + 1 + n;
}

static void foldedwrite_put_line(struct out *out, struct writer *writer, size_t n, const uint64_t *weight,
				 unsigned columns)
{
	char *end = writer->text + n - 1; /* the last ';', which the weight overwrites */

	for (unsigned c = 0; c < columns; c++)
		/* NOLINTNEXTLINE(clang-analyzer-core.*): columns is the number of weights */
		end = foldedwrite_put_weight(end, weight[c]);
	*end++ = '\n';
	char first = *writer->text;

	if (unlikely(folded_is_comment((struct str){ writer->text, (size_t)(end - writer->text) })))
		/* the line begins like a comment, which readers skip: '_' replaces its '#', as in pjfold */
		*writer->text = '_';
	out_bytes(out, writer->text, (size_t)(end - writer->text));
	*writer->text = first;
	writer->text[n - 1] = ';';
}

static void write_head(struct out *out, const struct stacks *stacks, unsigned columns,
		       const struct folded_header *header)
{
	struct text text = { 0 };

	folded_head(&text, header, stacks, columns);
	out_str(out, text_view(&text));
	out_char(out, '\n');
	text_free(&text);
}

void folded_write(struct out *out, const struct stacks *stacks, unsigned columns, const struct folded_header *header)
{
	struct stacks_walk walk;
	struct writer writer = { 0 };
	size_t depth = 0;

	if (header)
		write_head(out, stacks, columns, header);
	writer_deeper(&writer);
	writer.at[0] = (struct writer_frame){ 0 };
	stacks_walk_begin(&walk, stacks);
	for (uint32_t id; (id = stacks_walk_next(&walk)) != 0;) {
		uint64_t weight[2] = { stacks->self[0][id], stacks->self[1] ? stacks->self[1][id] : 0 };

		depth = writer_next(&writer, stacks, depth, id);
		if (weight[0] || (columns == 2 && weight[1]))
			foldedwrite_put_line(out, &writer, writer.at[depth].end, weight, columns);
	}
	stacks_walk_end(&walk);
	free(writer.text);
	free(writer.at);
}
