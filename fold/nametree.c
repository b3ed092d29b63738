/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/nametree.h"

#include "common/formats/folded.h"
#include "fold/names/waitreason.h"

#include <stdlib.h>

/* State of --skip-after and --collapse-recursion while nametree_make() builds the tree of names in `to`. */
struct stack_reduction {
	const struct samples_options *o;
	struct stacks *to;
	/* By frame id: 0: not examined yet; 1: --skip-after drops the callers of the frame; 2: it does not. */
	uint8_t *skip;
	size_t cap;
};

/* Returns true if --skip-after names `frame`, false if not. The result is cached by frame. */
static bool nametree_is_skip_after(struct stack_reduction *reduction, uint32_t frame)
{
	struct str name;

	if (frame >= reduction->cap) {
		size_t cap = (size_t)reduction->to->frames.cap + 1;

		reduction->skip = mem_grow(reduction->skip, 1, cap);
		memset(reduction->skip + reduction->cap, 0, cap - reduction->cap);
		reduction->cap = cap;
	}
	if (reduction->skip[frame] == 0) {
		name = folded_plain(names_shown(intern_str(&reduction->to->frames, frame)));
		reduction->skip[frame] = 2;
		for (size_t i = 0; i < reduction->o->nskip_after; i++)
			if (str_eq(name, folded_plain(reduction->o->skip_after[i])))
				reduction->skip[frame] = 1;
	}
	return reduction->skip[frame] == 1;
}

/* Adds `frame` as a callee of `node` to the tree of names, after --skip-after and --collapse-recursion, and returns its
 * node. base: parent of `frame` if --skip-after drops its callers. top: true: `node` is a first frame, not a function,
 * so recursion is not collapsed. */
static uint32_t nametree_step(struct stack_reduction *reduction, uint32_t base, uint32_t node, bool top, uint32_t frame)
{
	const struct intern *names = &reduction->to->frames;

	if (reduction->o->nskip_after && nametree_is_skip_after(reduction, frame))
		return stacks_child(reduction->to, base, frame);
	if (reduction->o->collapse_recursion && node && !top) {
		uint32_t before = reduction->to->node[node].frame;

		if (before == frame)
			return node;
		if (str_eq(folded_plain(names_shown(intern_str(names, before))),
			   folded_plain(names_shown(intern_str(names, frame)))))
			return stacks_child(reduction->to, reduction->to->node[node].parent, frame);
	}
	return stacks_child(reduction->to, node, frame);
}

bool *nametree_fronts(const struct nametree *tree)
{
	const struct stacks *stacks = tree->from;
	unsigned n = (tree->slices ? 1u : 0u) + (tree->by ? 1u : 0u);
	bool *front = mem_alloc(sizeof(*front), (size_t)stacks->n + 1);

	for (uint32_t id = 1; id < stacks->n && n; id++) {
		uint32_t parent = stacks->node[id].parent;

		front[id] = parent == 0 || (n == 2 && front[parent] && stacks->node[parent].parent == 0);
	}
	return front;
}

/* Returns the frame id in `stacks` for node `id`. The frame of the node must come from --time-slice or --by. A frame of
 * --by is the path of a cgroup, which becomes the name of the cgroup, container or pod. */
static uint32_t front_frame(const struct nametree *tree, uint32_t id, struct stacks *stacks)
{
	const struct stacks *from = tree->from;
	struct str shown = intern_str(&from->frames, from->node[id].frame);
	struct names names = { 0 };
	struct text text = { 0 };
	uint32_t frame;

	if (!tree->by || (tree->slices && from->node[id].parent == 0))
		return stacks_frame(stacks, shown);
	containers_name(tree->containers, tree->by, shown, &text);
	/* Remove blanks and characters that frames must not contain. */
	frame = stacks_frame(stacks, names_comm(&names, text_view(&text), false));
	names_free(&names);
	text_free(&text);
	return frame;
}

/* Returns the frame id in `stacks` for node `id`. The frame of the node must not be a location: it is a first frame, or
 * the leaf frame of a wall-clock profile. The leaf frame [blocked] becomes the reason of the wait, which is derived
 * from the kernel functions that called it. at: the caller's node in `stacks`. first: node in `stacks` of the innermost
 * first frame. */
static uint32_t nametree_name(const struct stacks *from, uint32_t id, struct stacks *stacks, uint32_t at,
			      uint32_t first)
{
	struct str name = intern_str(&from->frames, from->node[id].frame);

	if (at && str_eq(name, STR("[blocked]")))
		name = waitreason_of(stacks, at, first);
	return stacks_frame(stacks, name);
}

bool nametree_make(const struct nametree *tree, const bool *front, struct stacks *stacks)
{
	const struct stacks *from = tree->from;
	struct stack_reduction reduction = { .o = tree->o, .to = stacks };
	uint32_t *node = mem_alloc(sizeof(*node), from->n);
	/* By node of `from`: node in `stacks` of the innermost frame of its stack that comes from --time-slice or --by;
	 * 0: none. */
	uint32_t *base = mem_alloc(sizeof(*base), from->n);
	/* By node of `from`: node in `stacks` of the innermost first frame of its stack, of any kind; 0: none. */
	uint32_t *first = mem_alloc(sizeof(*first), from->n);
	bool *top = mem_alloc(sizeof(*top), from->n), fits = true;

	for (uint32_t id = 1; id < from->n; id++) {
		uint32_t frame = from->node[id].frame, location = frame & ~LOCATION_BIT, parent = from->node[id].parent,
			 at = node[parent];

		base[id] = base[parent];
		if (!(frame & LOCATION_BIT)) {
			top[id] = true;
			at = stacks_child(stacks, at,
					  front[id] ? front_frame(tree, id, stacks) :
						      nametree_name(from, id, stacks, at, first[parent]));
			if (front[id])
				base[id] = at;
		} else {
			bool outermost = top[parent];
			enum location_kind kind = tree->locations->location[location].kind;

			top[id] = kind == LOCATION_THREAD || kind == LOCATION_GROUP ||
				  (kind == LOCATION_STACK_END && outermost);
			for (uint32_t i = tree->names->first[location]; i < tree->names->first[location + 1];
			     i++, outermost = false)
				at = nametree_step(&reduction, base[id], at, outermost, tree->names->frame[i]);
		}
		node[id] = at;
		first[id] = top[id] ? at : first[parent];
		if (from->self[0][id])
			fits = stacks_add(stacks, at, 0, from->self[0][id]) && fits;
	}
	free(node);
	free(base);
	free(first);
	free(top);
	free(reduction.skip);
	return fits;
}
