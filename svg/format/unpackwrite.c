/* SPDX-License-Identifier: Apache-2.0 */
#include "svg/format/unpack.h"

#include "common/formats/foldedhead.h"
#include "common/formats/foldedwrite.h"

#include <stdlib.h>

/* The frames of one stack, innermost first. */
struct path {
	struct str *frame;
	size_t n, cap;
};

static void unpackwrite_put_stack(struct out *out, struct path *path, const struct unpacked *unpacked, uint32_t node)
{
	const struct stacks *stacks = &unpacked->stacks;

	path->n = 0;
	for (; node; node = stacks->node[node].parent) {
		if (path->n == path->cap) {
			path->cap = path->cap * 2 + 64;
			path->frame = mem_grow(path->frame, sizeof(*path->frame), path->cap);
		}
		path->frame[path->n++] = intern_str(&stacks->frames, stacks->node[node].frame);
	}
	for (size_t i = 0; i < path->n; i++) {
		struct str frame = path->frame[unpacked->reverse ? i : path->n - 1 - i];

		if (i) {
			out_char(out, ';');
		} else if (folded_is_comment(frame) && (frame.n > 1 || path->n == 1)) {
			/* replaces the first byte, as folded_write does, so that the line is no comment */
			out_char(out, '_');
			frame = str_from(frame, 1);
		}
		out_str(out, frame);
	}
}

static void unpackwrite_put_weight(struct out *out, uint64_t weight)
{
	out_char(out, ' ');
	out_u64(out, weight);
}

static void write_in_time(struct out *out, struct path *path, const struct unpacked *unpacked)
{
	size_t n;
	struct stacks_moment *moment = stacks_moments(&unpacked->stacks, &n);

	for (size_t i = 0; i < n; i++) {
		unpackwrite_put_stack(out, path, unpacked, moment[i].node);
		unpackwrite_put_weight(out, moment[i].weight);
		out_char(out, '\n');
	}
	free(moment);
}

/* Context of turned_cmp for qsort_r. */
struct order {
	const struct stacks *s;
	const uint32_t *rank; /* rank of each frame's name in byte order, by frame id */
};

/* Sorts the nodes of reversed stacks into the order of the original stacks in folded text, which starts from their
 * outermost frames. */
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

/* Writes reversed stacks with their frames in the original order. It builds no second tree, which could be far larger
 * than the first. */
static void write_turned(struct out *out, struct path *path, const struct unpacked *unpacked)
{
	const struct stacks *stacks = &unpacked->stacks;
	uint32_t *node = mem_alloc(sizeof(*node), stacks->n), n = 0;
	struct order order = { stacks, intern_ranks(&stacks->frames) };

	for (uint32_t id = 1; id < stacks->n; id++) {
		if (stacks->self[0][id] || (stacks->self[1] && stacks->self[1][id]))
			node[n++] = id;
	}
	if (n)
		qsort_r(node, n, sizeof(*node), turned_cmp, &order);
	for (uint32_t i = 0; i < n; i++) {
		unpackwrite_put_stack(out, path, unpacked, node[i]);
		unpackwrite_put_weight(out, stacks->self[0][node[i]]);
		if (unpacked->columns > 1)
			unpackwrite_put_weight(out, stacks->self[1] ? stacks->self[1][node[i]] : 0);
		out_char(out, '\n');
	}
	free((void *)(uintptr_t)order.rank);
	free(node);
}

void unpack_write(struct out *out, const struct unpacked *unpacked)
{
	struct path path = { 0 };

	if (unpacked->header.n) {
		out_str(out, text_view(&unpacked->header));
		out_char(out, '\n');
	}
	if (unpacked->stacks.in_time)
		write_in_time(out, &path, unpacked);
	else if (unpacked->reverse)
		write_turned(out, &path, unpacked);
	else
		folded_write(out, &unpacked->stacks, unpacked->columns, NULL);
	free(path.frame);
}
