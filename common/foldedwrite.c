/* SPDX-License-Identifier: Apache-2.0 */
#include "foldedwrite.h"

#include "arena.h"

#include <stdlib.h>

/* The text of the stack that the walk is in: frames are appended and cut off as it goes down and up. */
struct writer {
	char *text;
	size_t cap;
	size_t *end; /* by depth: length of the text with that frame */
	size_t end_cap;
	uint32_t *at; /* by depth: node */
};

static void writer_enter(struct writer *w, size_t depth, struct str frame, uint32_t node)
{
	size_t from = depth ? w->end[depth - 1] : 0, n = from + (depth > 0) + frame.n;

	if (depth == w->end_cap) {
		w->end_cap = w->end_cap ? w->end_cap * 2 : 256;
		w->end = mem_grow(w->end, sizeof(*w->end), w->end_cap);
		w->at = mem_grow(w->at, sizeof(*w->at), w->end_cap);
	}
	if (n > w->cap) {
		w->cap = n * 2;
		w->text = mem_grow(w->text, 1, w->cap);
	}
	if (depth)
		w->text[from] = ';';
	if (frame.n)
		memcpy(w->text + n - frame.n, frame.p, frame.n);
	w->end[depth] = n;
	w->at[depth] = node;
}

/* To the next node of the order, whose depth comes back: one more than its callers. */
static size_t writer_next(struct writer *w, const struct stacks *s, size_t depth, uint32_t id)
{
	while (depth && w->at[depth - 1] != s->node[id].parent)
		depth--;
	writer_enter(w, depth, intern_str(&s->frames, s->node[id].frame), id);
	return depth + 1;
}

static void writer_free(struct writer *w)
{
	free(w->text);
	free(w->end);
	free(w->at);
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
	uint32_t *order = stacks_order(s);
	struct writer w = { 0 };
	size_t depth = 0;

	if (h)
		write_head(o, s, columns, h);
	for (uint32_t i = 0; i + 1 < s->n; i++) {
		uint32_t id = order[i];
		uint64_t first = s->self[0][id], second = s->self[1] ? s->self[1][id] : 0;

		depth = writer_next(&w, s, depth, id);
		if (first == 0 && (columns == 1 || second == 0))
			continue;
		out_bytes(o, w.text, w.end[depth - 1]);
		out_char(o, ' ');
		out_u64(o, first);
		if (columns == 2) {
			out_char(o, ' ');
			out_u64(o, second);
		}
		out_char(o, '\n');
	}
	writer_free(&w);
	free(order);
}
