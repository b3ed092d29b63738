/* SPDX-License-Identifier: Apache-2.0 */
#include "svg/layout/layout.h"

#include <stdlib.h>

/* Allocates the columns of the layout for n frames. They are not zeroed: layout_make stores a value for each frame in
 * all of them. */
static void make_columns(struct layout *layout, size_t n)
{
	layout->node = mem_grow(NULL, sizeof(*layout->node), n);
	layout->frame = mem_grow(NULL, sizeof(*layout->frame), n);
	layout->parent = mem_grow(NULL, sizeof(*layout->parent), n);
	layout->level = mem_grow(NULL, sizeof(*layout->level), n);
	layout->end = mem_grow(NULL, sizeof(*layout->end), n);
	layout->start = mem_grow(NULL, sizeof(*layout->start), n);
	layout->width = mem_grow(NULL, sizeof(*layout->width), n);
	layout->self = mem_grow(NULL, sizeof(*layout->self), n);
}

static void add_frame(struct layout *layout, const struct stacks *stacks, uint32_t node, uint32_t parent)
{
	uint32_t i = layout->n++;

	layout->node[i] = node;
	layout->frame[i] = stacks->node[node].frame;
	layout->parent[i] = parent;
	layout->level[i] = parent == LAYOUT_ROOT ? 1 : layout->level[parent] + 1;
	if (layout->level[i] > layout->depth)
		layout->depth = layout->level[i];
}

/* Numbers all frames with weight in at least one column. first, last: total weight of each node in column 0 and in the
 * last column. */
static void number_frames(struct layout *layout, const struct stacks *stacks, const uint64_t *first,
			  const uint64_t *last)
{
	uint32_t *order = stacks_order(stacks);
	uint32_t *number = mem_alloc(sizeof(*number), stacks->n); /* frame number of each node */

	number[0] = LAYOUT_ROOT;
	for (uint32_t index = 0; index + 1 < stacks->n; index++) {
		uint32_t node = order[index];
		if (first[node] == 0 && last[node] == 0)
			continue;
		number[node] = layout->n;
		add_frame(layout, stacks, node, number[stacks->node[node].parent]);
	}
	free(number);
	free(order);
}

/* Fills a column of the layout: sets column[i] to by_node[node of frame i] for each frame i. */
static void fill_column(uint64_t *column, const struct layout *layout, const uint64_t *by_node)
{
	for (uint32_t i = 0; i < layout->n; i++)
		column[i] = by_node[layout->node[i]];
}

static void fill_before(struct layout *layout, const struct stacks *stacks, const uint64_t *totals)
{
	layout->before = mem_alloc(sizeof(*layout->before), stacks->n);
	layout->before_self = mem_alloc(sizeof(*layout->before_self), stacks->n);
	fill_column(layout->before, layout, totals);
	fill_column(layout->before_self, layout, stacks->self[0]);
	layout->before_sum = totals[0];
}

/* Computes layout->pause from the stacks' times. */
static void fill_pauses(struct layout *layout, const struct stacks *stacks)
{
	/* for each node: sum of the pauses before all children that were visited so far */
	uint64_t *reported = mem_alloc(sizeof(*reported), stacks->n);

	layout->pause = mem_alloc(sizeof(*layout->pause), stacks->n);
	for (uint32_t i = 0; i < layout->n; i++) {
		uint32_t node = layout->node[i], parent = stacks->node[node].parent;
		layout->pause[i] = stacks->before[node] - reported[parent];
		reported[parent] = stacks->before[node];
	}
	free(reported);
}

static void place_starts(struct layout *layout)
{
	/* by frame: position at which its next callee starts; set before the callees of the frame are visited */
	uint64_t *next = mem_grow(NULL, sizeof(*next), layout->n);
	uint64_t root_next = 0;

	for (uint32_t i = 0; i < layout->n; i++) {
		uint64_t *at = layout->parent[i] == LAYOUT_ROOT ? &root_next : &next[layout->parent[i]];
		*at += layout->pause ? layout->pause[i] : 0;
		layout->start[i] = next[i] = *at;
		*at += layout->width[i];
	}
	free(next);
}

static void place_ends(struct layout *layout)
{
	for (uint32_t i = 0; i < layout->n; i++)
		layout->end[i] = i + 1;
	for (uint32_t i = layout->n; i-- > 0;) {
		uint32_t parent = layout->parent[i];
		if (parent != LAYOUT_ROOT && layout->end[parent] < layout->end[i])
			layout->end[parent] = layout->end[i];
	}
}

void layout_make(struct layout *layout, const struct stacks *stacks)
{
	unsigned last = stacks->self[1] ? 1 : 0;

	*layout = (struct layout){ 0 };
	if (stacks->n == 0)
		return;
	uint64_t *totals[2] = { stacks_totals(stacks, 0), last ? stacks_totals(stacks, 1) : NULL };
	make_columns(layout, stacks->n);
	number_frames(layout, stacks, totals[0], totals[last]);
	fill_column(layout->width, layout, totals[last]);
	fill_column(layout->self, layout, stacks->self[last]);
	layout->sum = totals[last][0];
	if (last)
		fill_before(layout, stacks, totals[0]);
	free(totals[0]);
	free(totals[1]);
	if (stacks->in_time)
		fill_pauses(layout, stacks);
	place_starts(layout);
	place_ends(layout);
}

void layout_free(struct layout *layout)
{
	free(layout->node);
	free(layout->frame);
	free(layout->parent);
	free(layout->level);
	free(layout->end);
	free(layout->start);
	free(layout->width);
	free(layout->self);
	free(layout->before);
	free(layout->before_self);
	free(layout->pause);
	*layout = (struct layout){ 0 };
}
