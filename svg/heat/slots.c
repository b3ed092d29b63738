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

/* Sets slots->ns to the distinct times. Returns an array by node of `stacks`: for an outermost frame that is a time,
 * the index of this time; for others UNTIMED. The caller frees it. */
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

/* The state of moving the stacks with times into the tree without times. */
struct slots_move {
	struct slots *slots;
	const struct stacks *stacks;
	uint32_t *node; /* for each node of `stacks`: its node in the tree; 0: the node is a time, or has none yet */
	uint32_t lost;  /* id of the frame [lost] in `stacks`; 0: there is none */
};

/* Returns true if a node's self weight is a number of lost samples: its frame is [lost] and its parent is a time.
 * Returns false for all other nodes. id: node in `stacks`. */
static bool is_lost(const struct slots_move *move, uint32_t id)
{
	uint32_t parent = move->stacks->node[id].parent;

	return parent && !move->stacks->node[parent].parent && move->stacks->node[id].frame == move->lost;
}

/* Returns the node in the tree for `id`, a node below a time in `stacks`; adds the node to the tree at its first use.
 * Returns 0 for a node that is a time. */
static uint32_t tree_node(struct slots_move *move, uint32_t id)
{
	const struct stacks_node *from = &move->stacks->node[id];
	struct stacks *tree = &move->slots->tree;

	if (!from->parent || move->node[id])
		return move->node[id];
	/* Recursion ends after one level: the parent has a node, unless it is a frame [lost], whose parent is a
	 * time. */
	uint32_t parent = tree_node(move, from->parent);
	uint32_t frame = stacks_frame(tree, intern_str(&move->stacks->frames, from->frame));

	return move->node[id] = stacks_child(tree, parent, frame);
}

/* Adds the self weight of node `id`, below the time with index `time`, to the tree or to the losses of this time. A
 * frame [lost] directly below a time gets a node in the tree only if frames below it need one. */
static void move_weight(struct slots_move *move, uint32_t time, uint32_t id)
{
	uint64_t weight = move->stacks->self[0][id];
	struct slots *slots = move->slots;

	if (is_lost(move, id)) {
		/* cannot overflow: the result is at most the sum of all weights, which was checked */
		slots->lost[time] += weight;
		slots->lost_sum += weight;
		return;
	}
	uint32_t node = tree_node(move, id);

	if (!weight)
		return;
	if (!node) /* the stack has only a time and no frame: its weight belongs to the root */
		node = stacks_child(&slots->tree, 0, stacks_frame(&slots->tree, STR("[unknown]")));
	stacks_add(&slots->tree, node, 0, weight);
	slots->item[slots->n++] = (struct slots_item){ .time = time, .frame = node, .weight = weight };
}

void slots_make(struct slots *slots, const struct stacks *stacks)
{
	*slots = (struct slots){ 0 };
	if (stacks->n < 2)
		return;
	uint32_t *time_of = find_times(slots, stacks);
	struct slots_move move = {
		.slots = slots,
		.stacks = stacks,
		.node = mem_alloc(sizeof(*move.node), stacks->n),
		.lost = intern_find(&stacks->frames, STR("[lost]")),
	};

	slots->item = mem_alloc(sizeof(*slots->item), stacks->n);
	for (uint32_t id = 1; id < stacks->n; id++) {
		if (stacks->node[id].parent)
			time_of[id] = time_of[stacks->node[id].parent];
		if (time_of[id] == UNTIMED)
			slots_leave_out(slots, stacks, id);
		else
			move_weight(&move, time_of[id], id);
	}
	free(move.node);
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
