/* SPDX-License-Identifier: Apache-2.0 */
#include "svg/format/unpack.h"

#include "common/formats/foldedwrite.h"

#include <stdlib.h>

/* The frames of a stack, innermost first. */
struct path {
	struct str *frame;
	size_t n, cap;
};

static void unpackwrite_put_stack(struct out *o, struct path *path, const struct unpacked *u, uint32_t node)
{
	const struct stacks *s = &u->stacks;

	path->n = 0;
	for (; node; node = s->node[node].parent) {
		if (path->n == path->cap) {
			path->cap = path->cap * 2 + 64;
			path->frame = mem_grow(path->frame, sizeof(*path->frame), path->cap);
		}
		path->frame[path->n++] = intern_str(&s->frames, s->node[node].frame);
	}
	for (size_t i = 0; i < path->n; i++) {
		if (i)
			out_char(o, ';');
		out_str(o, path->frame[u->reverse ? i : path->n - 1 - i]);
	}
}

static void unpackwrite_put_weight(struct out *o, uint64_t weight)
{
	out_char(o, ' ');
	out_u64(o, weight);
}

static void write_in_time(struct out *o, struct path *path, const struct unpacked *u)
{
	size_t n;
	struct stacks_moment *moment = stacks_moments(&u->stacks, &n);

	for (size_t i = 0; i < n; i++) {
		unpackwrite_put_stack(o, path, u, moment[i].node);
		unpackwrite_put_weight(o, moment[i].weight);
		out_char(o, '\n');
	}
	free(moment);
}

/* What qsort_r compares by. */
struct order {
	const struct stacks *s;
	const uint32_t *rank; /* by frame */
};

/* As folded text orders the stacks turned back: the innermost frame first. */
static int turned_cmp(const void *a, const void *b, void *context)
{
	const struct order *order = context;
	const struct stacks_node *node = order->s->node;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	for (; x && y; x = node[x].parent, y = node[y].parent) {
		if (node[x].frame != node[y].frame)
			return order->rank[node[x].frame] < order->rank[node[y].frame] ? -1 : 1;
	}
	return (x != 0) - (y != 0);
}

/* Turning the tree round could make it far larger; its lines need no tree. */
static void write_turned(struct out *o, struct path *path, const struct unpacked *u)
{
	const struct stacks *s = &u->stacks;
	uint32_t *node = mem_alloc(sizeof(*node), s->n), n = 0;
	struct order order = { s, intern_ranks(&s->frames) };

	for (uint32_t id = 1; id < s->n; id++) {
		if (s->self[0][id] || (s->self[1] && s->self[1][id]))
			node[n++] = id;
	}
	if (n)
		qsort_r(node, n, sizeof(*node), turned_cmp, &order);
	for (uint32_t i = 0; i < n; i++) {
		unpackwrite_put_stack(o, path, u, node[i]);
		unpackwrite_put_weight(o, s->self[0][node[i]]);
		if (u->columns > 1)
			unpackwrite_put_weight(o, s->self[1] ? s->self[1][node[i]] : 0);
		out_char(o, '\n');
	}
	free((void *)(uintptr_t)order.rank);
	free(node);
}

void unpack_write(struct out *o, const struct unpacked *u)
{
	struct path path = { 0 };

	if (u->header.n) {
		out_str(o, text_view(&u->header));
		out_char(o, '\n');
	}
	if (u->stacks.in_time)
		write_in_time(o, &path, u);
	else if (u->reverse)
		write_turned(o, &path, u);
	else
		folded_write(o, &u->stacks, u->columns, NULL);
	free(path.frame);
}
