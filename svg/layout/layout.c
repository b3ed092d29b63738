/* SPDX-License-Identifier: Apache-2.0 */
#include "svg/layout/layout.h"

#include <stdlib.h>

static void make_columns(struct layout *l, size_t n)
{
	l->node = mem_alloc(sizeof(*l->node), n);
	l->frame = mem_alloc(sizeof(*l->frame), n);
	l->parent = mem_alloc(sizeof(*l->parent), n);
	l->level = mem_alloc(sizeof(*l->level), n);
	l->end = mem_alloc(sizeof(*l->end), n);
	l->start = mem_alloc(sizeof(*l->start), n);
	l->width = mem_alloc(sizeof(*l->width), n);
	l->self = mem_alloc(sizeof(*l->self), n);
}

static void add_frame(struct layout *l, const struct stacks *s, uint32_t node, uint32_t parent)
{
	uint32_t i = l->n++;

	l->node[i] = node;
	l->frame[i] = s->node[node].frame;
	l->parent[i] = parent;
	l->level[i] = parent == LAYOUT_ROOT ? 1 : l->level[parent] + 1;
	if (l->level[i] > l->depth)
		l->depth = l->level[i];
}

/* Numbers the frames that have weight in column 0, or in the last one. */
static void number_frames(struct layout *l, const struct stacks *s, const uint64_t *first, const uint64_t *last)
{
	uint32_t *order = stacks_order(s);
	uint32_t *number = mem_alloc(sizeof(*number), s->n); /* by node */

	number[0] = LAYOUT_ROOT;
	for (uint32_t k = 0; k + 1 < s->n; k++) {
		uint32_t node = order[k];
		if (first[node] == 0 && last[node] == 0)
			continue;
		number[node] = l->n;
		add_frame(l, s, node, number[s->node[node].parent]);
	}
	free(number);
	free(order);
}

/* The values of the frames' nodes. */
static void fill_column(uint64_t *column, const struct layout *l, const uint64_t *by_node)
{
	for (uint32_t i = 0; i < l->n; i++)
		column[i] = by_node[l->node[i]];
}

static void fill_before(struct layout *l, const struct stacks *s, const uint64_t *totals)
{
	l->before = mem_alloc(sizeof(*l->before), s->n);
	l->before_self = mem_alloc(sizeof(*l->before_self), s->n);
	fill_column(l->before, l, totals);
	fill_column(l->before_self, l, s->self[0]);
	l->before_sum = totals[0];
}

/* What the parent has of its own before a frame, less what went to the pauses before its siblings. */
static void fill_pauses(struct layout *l, const struct stacks *s)
{
	uint64_t *reported = mem_alloc(sizeof(*reported), s->n); /* by node */

	l->pause = mem_alloc(sizeof(*l->pause), s->n);
	for (uint32_t i = 0; i < l->n; i++) {
		uint32_t node = l->node[i], parent = s->node[node].parent;
		l->pause[i] = s->before[node] - reported[parent];
		reported[parent] = s->before[node];
	}
	free(reported);
}

static void place_starts(struct layout *l)
{
	uint64_t *next = mem_alloc(sizeof(*next), l->n);
	uint64_t root_next = 0;

	for (uint32_t i = 0; i < l->n; i++) {
		uint64_t *at = l->parent[i] == LAYOUT_ROOT ? &root_next : &next[l->parent[i]];
		*at += l->pause ? l->pause[i] : 0;
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
	unsigned last = s->self[1] ? 1 : 0;

	*l = (struct layout){ 0 };
	if (s->n == 0)
		return;
	uint64_t *totals[2] = { stacks_totals(s, 0), last ? stacks_totals(s, 1) : NULL };
	make_columns(l, s->n);
	number_frames(l, s, totals[0], totals[last]);
	fill_column(l->width, l, totals[last]);
	fill_column(l->self, l, s->self[last]);
	l->sum = totals[last][0];
	if (last)
		fill_before(l, s, totals[0]);
	free(totals[0]);
	free(totals[1]);
	if (s->in_time)
		fill_pauses(l, s);
	place_starts(l);
	place_ends(l);
}

void layout_free(struct layout *l)
{
	free(l->node);
	free(l->frame);
	free(l->parent);
	free(l->level);
	free(l->end);
	free(l->start);
	free(l->width);
	free(l->self);
	free(l->before);
	free(l->before_self);
	free(l->pause);
	*l = (struct layout){ 0 };
}
