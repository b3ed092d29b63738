/* SPDX-License-Identifier: Apache-2.0 */
#include "svg/layout/reroot.h"

#include "common/formats/folded.h"

#include <stdlib.h>

/* The frames of one stack, outermost last. */
struct path {
	uint32_t *frame;
	size_t n, cap;
};

struct rerooting {
	struct stacks *dst;
	const struct stacks *src;
	const struct reroot *how;
	bool *is_base;   /* by frame of src */
	uint32_t *frame; /* by frame of src: in dst, 0: not yet */
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

static void mark_bases(struct rerooting *t)
{
	for (uint32_t id = 1; id <= t->src->frames.n; id++)
		t->is_base[id] = is_base(t->how, intern_str(&t->src->frames, id));
}

static void path_push(struct path *p, uint32_t frame)
{
	if (p->n == p->cap) {
		p->cap = p->cap ? p->cap * 2 : 256;
		p->frame = mem_grow(p->frame, sizeof(*p->frame), p->cap);
	}
	p->frame[p->n++] = frame;
}

/* The frames of a stack, from its end to the base. False: it has none. */
static bool find_path(struct rerooting *t, uint32_t node)
{
	t->path.n = 0;
	for (; node; node = t->src->node[node].parent) {
		uint32_t frame = t->src->node[node].frame;
		path_push(&t->path, frame);
		if (t->is_base[frame])
			return true;
	}
	return t->how->nbase == 0;
}

/* Only frames that are used get a name there. */
static uint32_t frame_there(struct rerooting *t, uint32_t frame)
{
	if (!t->frame[frame])
		t->frame[frame] = stacks_frame(t->dst, intern_str(&t->src->frames, frame));
	return t->frame[frame];
}

/* Sums fit: they fitted in src. */
static void move_stack(struct rerooting *t, uint32_t node, uint64_t first, uint64_t second)
{
	uint32_t to = 0;

	if (!find_path(t, node)) {
		t->dropped.stacks++;
		t->dropped.weight += first + second;
		return;
	}
	for (size_t i = 0; i < t->path.n; i++)
		to = stacks_child(t->dst, to, frame_there(t, t->path.frame[t->how->reverse ? i : t->path.n - 1 - i]));
	stacks_add(t->dst, to, 0, first);
	if (second)
		stacks_add(t->dst, to, 1, second);
}

static void move_in_time(struct rerooting *t)
{
	size_t n;
	struct stacks_moment *moment = stacks_moments(t->src, &n);

	for (size_t i = 0; i < n; i++)
		move_stack(t, moment[i].node, moment[i].weight, 0);
	free(moment);
}

static void move_all(struct rerooting *t)
{
	const struct stacks *s = t->src;

	for (uint32_t id = 1; id < s->n; id++) {
		uint64_t second = s->self[1] ? s->self[1][id] : 0;
		if (s->self[0][id] || second)
			move_stack(t, id, s->self[0][id], second);
	}
}

struct reroot_dropped reroot_stacks(struct stacks *dst, const struct stacks *src, const struct reroot *how)
{
	struct rerooting t = { .dst = dst, .src = src, .how = how };

	t.is_base = mem_alloc(1, (size_t)src->frames.n + 1);
	t.frame = mem_alloc(sizeof(*t.frame), (size_t)src->frames.n + 1);
	mark_bases(&t);
	if (src->self[1])
		stacks_add(dst, 0, 1, 0); /* two columns stay two */
	if (src->in_time)
		move_in_time(&t);
	else
		move_all(&t);
	free(t.is_base);
	free(t.frame);
	free(t.path.frame);
	return t.dropped;
}
