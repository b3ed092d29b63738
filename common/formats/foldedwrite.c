/* SPDX-License-Identifier: Apache-2.0 */
#include "common/formats/foldedwrite.h"

#include "common/arena.h"

#include <stdlib.h>

/* The text of the stack that the walk is in, a ';' behind every frame: they are appended and cut off as it goes down
 * and up. */
struct writer {
	char *text; /* with room for what follows a stack */
	size_t cap;
	struct writer_frame {
		size_t end; /* of the text with that frame */
		uint32_t node;
	} * at; /* by depth; [0] is the root, without text */
	size_t at_cap;
};

#define TAIL 43 /* two weights, two blanks, a newline */

static void writer_deeper(struct writer *w)
{
	w->at_cap = w->at_cap ? w->at_cap * 2 : 256;
	w->at = mem_grow(w->at, sizeof(*w->at), w->at_cap);
}

static void writer_longer(struct writer *w, size_t n)
{
	w->cap = n * 2;
	w->text = mem_grow(w->text, 1, w->cap);
}

/* To the next node of the order, whose depth comes back: one more than its caller's. */
static size_t writer_next(struct writer *w, const struct stacks *s, size_t depth, uint32_t id)
{
	const struct stacks_node *node = &s->node[id];
	struct str frame = intern_str(&s->frames, node->frame);
	size_t from;

	while (w->at[depth].node != node->parent)
		depth--;
	from = w->at[depth].end;
	if (unlikely(++depth == w->at_cap))
		writer_deeper(w);
	if (unlikely(from + frame.n + 1 + TAIL > w->cap))
		writer_longer(w, from + frame.n + 1 + TAIL);
	if (frame.n)
		memcpy(w->text + from, frame.p, frame.n);
	w->text[from + frame.n] = ';';
	w->at[depth] = (struct writer_frame){ from + frame.n + 1, id };
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

static void foldedwrite_put_line(struct out *o, struct writer *w, size_t n, const uint64_t *weight, unsigned columns)
{
	char *end = w->text + n - 1; /* where the last ';' is */

	for (unsigned c = 0; c < columns; c++)
		end = foldedwrite_put_weight(end, weight[c]);
	*end++ = '\n';
	out_bytes(o, w->text, (size_t)(end - w->text));
	w->text[n - 1] = ';';
}

static void write_head(struct out *o, const struct stacks *s, unsigned columns, const struct folded_header *h)
{
	struct text t = { 0 };

	folded_head(&t, h, s, columns);
	out_str(o, text_view(&t));
	out_char(o, '\n');
	text_free(&t);
}

void folded_write(struct out *o, const struct stacks *s, unsigned columns, const struct folded_header *h)
{
	struct stacks_walk walk;
	struct writer w = { 0 };
	size_t depth = 0;

	if (h)
		write_head(o, s, columns, h);
	writer_deeper(&w);
	w.at[0] = (struct writer_frame){ 0 };
	stacks_walk_begin(&walk, s);
	for (uint32_t id; (id = stacks_walk_next(&walk)) != 0;) {
		uint64_t weight[2] = { s->self[0][id], s->self[1] ? s->self[1][id] : 0 };

		depth = writer_next(&w, s, depth, id);
		if (weight[0] || (columns == 2 && weight[1]))
			foldedwrite_put_line(o, &w, w.at[depth].end, weight, columns);
	}
	stacks_walk_end(&walk);
	free(w.text);
	free(w.at);
}
