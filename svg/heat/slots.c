/* SPDX-License-Identifier: Apache-2.0 */
#include "svg/heat/slots.h"

#include "svg/heat/heattime.h"

#include <stdlib.h>

#define UNTIMED UINT32_MAX

/* An outermost frame that is a time. */
struct slots_time {
	uint64_t ns;
	uint32_t node;
};

static int slots_time_cmp(const void *a, const void *b)
{
	const struct slots_time *one = a, *other = b;

	return one->ns < other->ns ? -1 : one->ns > other->ns;
}

/* Fills slots->ns with the distinct times. Returns for each node of `stacks` below the root the index of its time, or
 * UNTIMED; the caller frees it. */
static uint32_t *find_times(struct slots *slots, const struct stacks *stacks)
{
	uint32_t *time_of = mem_alloc(sizeof(*time_of), stacks->n);
	struct slots_time *times = NULL;
	size_t n = 0, cap = 0;

	for (uint32_t id = 1; id < stacks->n; id++) {
		struct slots_time found = { .node = id };

		time_of[id] = UNTIMED;
		if (stacks->node[id].parent ||
		    !heattime_parse(intern_str(&stacks->frames, stacks->node[id].frame), &found.ns))
			continue;
		if (n == cap) {
			cap = 2 * cap + 64;
			times = mem_grow(times, sizeof(*times), cap);
		}
		times[n++] = found;
	}
	if (n)
		qsort(times, n, sizeof(*times), slots_time_cmp);
	slots->ns = mem_alloc(sizeof(*slots->ns), n + 1);
	slots->lost = mem_alloc(sizeof(*slots->lost), n + 1);
	for (size_t i = 0; i < n; i++) {
		if (i == 0 || times[i].ns != times[i - 1].ns)
			slots->ns[slots->ntimes++] = times[i].ns;
		time_of[times[i].node] = (uint32_t)(slots->ntimes - 1);
	}
	free(times);
	return time_of;
}

static void slots_leave_out(struct slots *slots, const struct stacks *stacks, uint32_t id)
{
	uint32_t top = id;

	if (!stacks->self[0][id])
		return;
	slots->untimed += stacks->self[0][id];
	while (stacks->node[top].parent && !slots->first_untimed.n)
		top = stacks->node[top].parent;
	if (!slots->first_untimed.n)
		slots->first_untimed = intern_str(&stacks->frames, stacks->node[top].frame);
}

/* Adds the weight of a stack with a time: to the tree, or to the losses. `node` is its node in the tree. */
static void add_timed(struct slots *slots, uint32_t time, uint32_t node, uint64_t weight, bool is_lost)
{
	if (is_lost) {
		slots->lost[time] += weight; /* cannot overflow: a part of the sum of all weights, which is checked */
		slots->lost_sum += weight;
		return;
	}
	stacks_add(&slots->tree, node, 0, weight);
	slots->item[slots->n++] = (struct slots_item){ .time = time, .frame = node, .weight = weight };
}

void slots_make(struct slots *slots, const struct stacks *stacks)
{
	*slots = (struct slots){ 0 };
	if (stacks->n < 2)
		return;
	uint32_t *time_of = find_times(slots, stacks), *node = mem_alloc(sizeof(*node), stacks->n);
	uint32_t lost = intern_find(&stacks->frames, STR("[lost]"));

	slots->item = mem_alloc(sizeof(*slots->item), stacks->n);
	for (uint32_t id = 1; id < stacks->n; id++) {
		uint32_t parent = stacks->node[id].parent, frame = stacks->node[id].frame, in_tree = 0;

		if (parent)
			time_of[id] = time_of[parent];
		if (time_of[id] == UNTIMED) {
			slots_leave_out(slots, stacks, id);
			continue;
		}
		bool is_lost = parent && !stacks->node[parent].parent && frame == lost;
		if (parent && !is_lost)
			in_tree = stacks_child(&slots->tree, node[parent],
					       stacks_frame(&slots->tree, intern_str(&stacks->frames, frame)));
		node[id] = in_tree;
		if (!stacks->self[0][id])
			continue;
		if (!in_tree && !is_lost) /* a time without a frame */
			in_tree = stacks_child(&slots->tree, 0, stacks_frame(&slots->tree, STR("[unknown]")));
		add_timed(slots, time_of[id], in_tree, stacks->self[0][id], is_lost);
	}
	free(node);
	free(time_of);
}

static int slots_item_cmp(const void *a, const void *b)
{
	const struct slots_item *one = a, *other = b;

	return one->time < other->time ? -1 : one->time > other->time;
}

void slots_number(struct slots *slots, const struct layout *layout)
{
	uint32_t *frame_of = mem_alloc(sizeof(*frame_of), (size_t)slots->tree.n + 1);

	for (uint32_t frame = 0; frame < layout->n; frame++)
		frame_of[layout->node[frame]] = frame;
	for (size_t i = 0; i < slots->n; i++)
		slots->item[i].frame = frame_of[slots->item[i].frame];
	if (slots->n)
		qsort(slots->item, slots->n, sizeof(*slots->item), slots_item_cmp);
	free(frame_of);
}

void slots_free(struct slots *slots)
{
	stacks_free(&slots->tree);
	free(slots->ns);
	free(slots->lost);
	free(slots->item);
	*slots = (struct slots){ 0 };
}
