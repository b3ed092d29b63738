/* SPDX-License-Identifier: Apache-2.0 */
#include "svg/layout/reroot.h"

#include "common/formats/folded.h"

#include <stdlib.h>

/* The frames of one stack, innermost first. */
struct path {
	uint32_t *frame;
	size_t n, cap;
};

struct rerooting {
	struct stacks *dst;
	const struct stacks *src;
	const struct reroot *how;
	bool *is_base;   /* for each frame of src: true if stacks are cut at it */
	uint32_t *frame; /* for each frame of src: its id in dst; 0: not in dst yet */
	struct path path;
	struct reroot_dropped dropped;
};

static bool is_base(const struct reroot *how, struct str frame)
{
	for (size_t i = 0; i < how->nbase; i++) {
		struct str base = str_of(how->base[i]);
		if (str_eq(base, frame) || str_eq(base, folded_plain(frame)))
			return true;
	}
	return false;
}

static void mark_bases(struct rerooting *rerooting)
{
	for (uint32_t id = 1; id <= rerooting->src->frames.n; id++)
		rerooting->is_base[id] = is_base(rerooting->how, intern_str(&rerooting->src->frames, id));
}

static void path_push(struct path *path, uint32_t frame)
{
	if (path->n == path->cap) {
		path->cap = path->cap ? path->cap * 2 : 256;
		path->frame = mem_grow(path->frame, sizeof(*path->frame), path->cap);
	}
	path->frame[path->n++] = frame;
}

/* Sets rerooting->path to the frames of the stack that ends at `node`, from its leaf to the first base frame; without
 * base frames, to the root. Returns false if base frames are given and the stack has none. */
static bool find_path(struct rerooting *rerooting, uint32_t node)
{
	rerooting->path.n = 0;
	for (; node; node = rerooting->src->node[node].parent) {
		uint32_t frame = rerooting->src->node[node].frame;
		path_push(&rerooting->path, frame);
		if (rerooting->is_base[frame])
			return true;
	}
	return rerooting->how->nbase == 0;
}

/* Returns the id in dst of a frame of src; adds the frame to dst at its first use. */
static uint32_t frame_there(struct rerooting *rerooting, uint32_t frame)
{
	if (!rerooting->frame[frame])
		rerooting->frame[frame] = stacks_frame(rerooting->dst, intern_str(&rerooting->src->frames, frame));
	return rerooting->frame[frame];
}

/* Adds the cut or reversed stack of a node, with the weights `first` and `second` of columns 0 and 1, to dst; or counts
 * the stack as dropped. The sums cannot overflow, as they fitted into 63 bits in src. */
static void move_stack(struct rerooting *rerooting, uint32_t node, uint64_t first, uint64_t second)
{
	uint32_t to = 0;

	if (!find_path(rerooting, node)) {
		rerooting->dropped.stacks++;
		rerooting->dropped.weight += first + second;
		return;
	}
	for (size_t i = 0; i < rerooting->path.n; i++)
		to = stacks_child(
			rerooting->dst, to,
			frame_there(rerooting,
				    rerooting->path.frame[rerooting->how->reverse ? i : rerooting->path.n - 1 - i]));
	stacks_add(rerooting->dst, to, 0, first);
	if (second)
		stacks_add(rerooting->dst, to, 1, second);
}

static void move_in_time(struct rerooting *rerooting)
{
	size_t n;
	struct stacks_moment *moment = stacks_moments(rerooting->src, &n);

	for (size_t i = 0; i < n; i++)
		move_stack(rerooting, moment[i].node, moment[i].weight, 0);
	free(moment);
}

static void move_all(struct rerooting *rerooting)
{
	const struct stacks *stacks = rerooting->src;

	for (uint32_t id = 1; id < stacks->n; id++) {
		uint64_t second = stacks->self[1] ? stacks->self[1][id] : 0;
		if (stacks->self[0][id] || second)
			move_stack(rerooting, id, stacks->self[0][id], second);
	}
}

struct reroot_dropped reroot_stacks(struct stacks *dst, const struct stacks *src, const struct reroot *how)
{
	struct rerooting rerooting = { .dst = dst, .src = src, .how = how };

	rerooting.is_base = mem_alloc(1, (size_t)src->frames.n + 1);
	rerooting.frame = mem_alloc(sizeof(*rerooting.frame), (size_t)src->frames.n + 1);
	mark_bases(&rerooting);
	if (src->self[1])
		stacks_add(dst, 0, 1, 0); /* creates column 1 of dst, even if all its weights are 0 */
	if (src->in_time)
		move_in_time(&rerooting);
	else
		move_all(&rerooting);
	free(rerooting.is_base);
	free(rerooting.frame);
	free(rerooting.path.frame);
	return rerooting.dropped;
}
