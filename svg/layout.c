/* SPDX-License-Identifier: Apache-2.0 */
#include "layout.h"

#include <stdlib.h>

static void make_columns(struct layout *l, size_t n)
{
	l->frame = mem_alloc(sizeof(*l->frame), n);
	l->parent = mem_alloc(sizeof(*l->parent), n);
	l->level = mem_alloc(sizeof(*l->level), n);
	l->end = mem_alloc(sizeof(*l->end), n);
	l->start = mem_alloc(sizeof(*l->start), n);
	l->width = mem_alloc(sizeof(*l->width), n);
	l->self = mem_alloc(sizeof(*l->self), n);
}

/* Fills all columns but end and start. */
static void number_frames(struct layout *l, const struct stacks *s)
{
	uint64_t *totals = stacks_totals(s, 0);
	uint32_t *order = stacks_order(s);
	uint32_t *number = mem_alloc(sizeof(*number), s->n); /* by node */

	number[0] = LAYOUT_ROOT;
	for (uint32_t k = 0; k + 1 < s->n; k++) {
		uint32_t node = order[k];
		if (totals[node] == 0)
			continue;
		uint32_t i = l->n++;
		uint32_t parent = number[s->node[node].parent];
		number[node] = i;
		l->frame[i] = s->node[node].frame;
		l->parent[i] = parent;
		l->level[i] = parent == LAYOUT_ROOT ? 1 : l->level[parent] + 1;
		l->width[i] = totals[node];
		l->self[i] = s->self[0][node];
		if (l->level[i] > l->depth)
			l->depth = l->level[i];
	}
	l->sum = totals[0];
	free(number);
	free(order);
	free(totals);
}

static void place_starts(struct layout *l)
{
	uint64_t *next = mem_alloc(sizeof(*next), l->n);
	uint64_t root_next = 0;

	for (uint32_t i = 0; i < l->n; i++) {
		uint64_t *at = l->parent[i] == LAYOUT_ROOT ? &root_next : &next[l->parent[i]];
		l->start[i] = next[i] = *at;
		*at += l->width[i];
	}
	free(next);
}

static void place_ends(struct layout *l)
{
	for (uint32_t i = 0; i < l->n; i++)
		l->end[i] = i + 1;
	for (uint32_t i = l->n; i-- > 0;) {
		uint32_t parent = l->parent[i];
		if (parent != LAYOUT_ROOT && l->end[parent] < l->end[i])
			l->end[parent] = l->end[i];
	}
}

void layout_make(struct layout *l, const struct stacks *s)
{
	*l = (struct layout){ 0 };
	if (s->n == 0)
		return;
	make_columns(l, s->n);
	number_frames(l, s);
	place_starts(l);
	place_ends(l);
}

void layout_free(struct layout *l)
{
	free(l->frame);
	free(l->parent);
	free(l->level);
	free(l->end);
	free(l->start);
	free(l->width);
	free(l->self);
	*l = (struct layout){ 0 };
}
