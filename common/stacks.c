/* SPDX-License-Identifier: Apache-2.0 */
#include "stacks.h"

#include "diag.h"

#include <stdlib.h>

#define WEIGHT_MAX ((uint64_t)INT64_MAX)

static uint32_t hash_path(uint32_t parent_hash, uint32_t frame)
{
	uint64_t h = ((uint64_t)parent_hash << 32 | frame) * 0x9E3779B97F4A7C15u;

	return (uint32_t)(h >> 32) ^ (uint32_t)h >> 15;
}

/* Brings all nodes into the table, which gets room for that many more. */
static void place(struct stacks *s, uint32_t more)
{
	uint64_t nslots = s->mask ? (uint64_t)s->mask + 1 : 1024;
	uint32_t from = s->placed;

	while ((uint64_t)s->n + more >= (nslots - 1) / 2)
		nslots *= 2;
	if (nslots > UINT32_MAX)
		die("more than 2 billion distinct stacks");
	if (nslots != (uint64_t)s->mask + 1) {
		free(s->slot);
		s->slot = mem_alloc(sizeof(*s->slot), nslots);
		s->mask = (uint32_t)nslots - 1;
		s->placed = 0;
	}
	for (uint32_t id = s->placed ? s->placed : 1; id < s->n; id++) {
		struct stacks_node *node = &s->node[id];
		uint32_t i;

		if (id >= from)
			node->hash = hash_path(s->node[node->parent].hash, node->frame);
		for (i = node->hash & s->mask; s->slot[i]; i = (i + 1) & s->mask)
			;
		s->slot[i] = id;
	}
	s->placed = s->n;
}

/* 1.5 times: the tables are most of the memory of a run. */
static void grow_nodes(struct stacks *s)
{
	uint32_t cap = s->cap ? s->cap + s->cap / 2 : 512;

	s->node = mem_grow(s->node, sizeof(*s->node), cap);
	for (unsigned c = 0; c < STACKS_COLUMNS; c++) {
		if (c > 0 && !s->self[c])
			continue; /* most profiles have one column */
		s->self[c] = mem_grow(s->self[c], sizeof(**s->self), cap);
		memset(s->self[c] + s->cap, 0, (cap - s->cap) * sizeof(**s->self));
	}
	if (s->in_time)
		s->before = mem_grow(s->before, sizeof(*s->before), cap);
	s->cap = cap;
	if (s->n == 0)
		s->node[s->n++] = (struct stacks_node){ 0 };
}

uint32_t stacks_frame(struct stacks *s, struct str name)
{
	return intern(&s->frames, name);
}

uint32_t stacks_append(struct stacks *s, uint32_t parent, uint32_t frame)
{
	if (unlikely(s->n >= s->cap)) {
		if (s->n > UINT32_MAX / 2)
			die("more than 2 billion distinct stacks");
		grow_nodes(s);
	}
	s->node[s->n] = (struct stacks_node){ .parent = parent, .frame = frame };
	if (s->in_time)
		s->before[s->n] = s->self[0][parent];
	return s->n++;
}

/* Parents have smaller numbers, so the walk ends at the parent's; it is never longer than the last stack. */
static uint32_t open_child(struct stacks *s, uint32_t parent, uint32_t frame)
{
	for (uint32_t id = s->last; id > parent; id = s->node[id].parent) {
		if (s->node[id].parent == parent && s->node[id].frame == frame)
			return id;
	}
	return stacks_append(s, parent, frame);
}

uint32_t stacks_child(struct stacks *s, uint32_t parent, uint32_t frame)
{
	uint32_t i, id, hash;

	if (unlikely(s->in_time))
		return open_child(s, parent, frame);
	if (unlikely(s->n >= s->cap))
		grow_nodes(s);
	if (unlikely(s->placed != s->n || s->n >= s->mask / 2))
		place(s, 0);
	hash = hash_path(s->node[parent].hash, frame);
	for (i = hash & s->mask; (id = s->slot[i]) != 0; i = (i + 1) & s->mask)
		if (s->node[id].parent == parent && s->node[id].frame == frame)
			return id;
	id = s->n++;
	s->node[id] = (struct stacks_node){ parent, frame, hash };
	s->slot[i] = id;
	s->placed = s->n;
	return id;
}

uint32_t stacks_find(struct stacks *s, uint32_t parent, uint32_t frame)
{
	uint32_t id = 0;

	if (s->in_time || s->n == 0)
		return 0;
	if (s->placed != s->n)
		place(s, 0);
	for (uint32_t i = hash_path(s->node[parent].hash, frame) & s->mask; (id = s->slot[i]) != 0; i = (i + 1) & s->mask)
		if (s->node[id].parent == parent && s->node[id].frame == frame)
			break;
	return id;
}

void stacks_expect(const struct stacks *s, uint32_t node, const uint32_t *frame, size_t n)
{
	uint32_t hash, h;

	if (!s->placed)
		return;
	hash = h = s->node[node].hash;
	for (size_t i = 0; i < n; i++) {
		h = hash_path(h, frame[i]);
		__builtin_prefetch(&s->slot[h & s->mask]);
	}
	for (size_t i = 0; i < n; i++) {
		hash = hash_path(hash, frame[i]);
		__builtin_prefetch(&s->node[s->slot[hash & s->mask]]);
	}
}

bool stacks_add(struct stacks *s, uint32_t node, unsigned column, uint64_t weight)
{
	if (unlikely(s->cap == 0))
		grow_nodes(s);
	if (unlikely(!s->self[column]))
		s->self[column] = mem_alloc(sizeof(**s->self), s->cap);
	if (unlikely(weight > WEIGHT_MAX || s->sum[column] > WEIGHT_MAX - weight))
		return false;
	s->sum[column] += weight;
	s->self[column][node] += weight;
	if (weight)
		s->last = node;
	return true;
}

uint64_t stacks_sum(const struct stacks *s, unsigned column)
{
	return s->sum[column];
}

uint64_t *stacks_totals(const struct stacks *s, unsigned column)
{
	uint64_t *total = mem_alloc(sizeof(*total), s->n);

	if (s->n && s->self[column])
		memcpy(total, s->self[column], s->n * sizeof(*total));
	for (uint32_t id = s->n; id-- > 1;)
		total[s->node[id].parent] += total[id];
	return total;
}

/*
 * Counting sorts instead of comparisons: nodes by the rank of their frame, then, stably, by parent. That leaves every
 * node's children together and in order; a walk over them needs no recursion.
 */
uint32_t *stacks_order(const struct stacks *s)
{
	uint32_t n = s->n, nframes = s->frames.n;
	uint32_t *order, *rank, *by_rank, *kids, *first, *stack;
	uint32_t depth = 0, norder = 0;

	order = mem_alloc(sizeof(*order), n);
	if (s->in_time) {
		for (uint32_t id = 1; id < n; id++)
			order[id - 1] = id;
		return order;
	}
	if (n < 2)
		return order;
	rank = intern_ranks(&s->frames);

	first = mem_alloc(sizeof(*first), (size_t)nframes + 1);
	for (uint32_t id = 1; id < n; id++)
		first[rank[s->node[id].frame] + 1]++;
	for (uint32_t i = 0; i < nframes; i++)
		first[i + 1] += first[i];
	by_rank = mem_alloc(sizeof(*by_rank), n);
	for (uint32_t id = 1; id < n; id++)
		by_rank[first[rank[s->node[id].frame]]++] = id;
	free(first);
	free(rank);

	first = mem_alloc(sizeof(*first), (size_t)n + 1);
	for (uint32_t id = 1; id < n; id++)
		first[s->node[id].parent + 1]++;
	for (uint32_t i = 0; i < n; i++)
		first[i + 1] += first[i];
	kids = mem_alloc(sizeof(*kids), n);
	stack = mem_alloc(sizeof(*stack), n); /* per parent: how many are placed; then the walk's stack */
	for (uint32_t i = 0; i < n - 1; i++) {
		uint32_t parent = s->node[by_rank[i]].parent;

		kids[first[parent] + stack[parent]++] = by_rank[i];
	}
	free(by_rank);

	stack[depth++] = 0;
	while (depth) {
		uint32_t id = stack[--depth];

		if (id)
			order[norder++] = id;
		for (uint32_t i = first[id + 1]; i > first[id]; i--)
			stack[depth++] = kids[i - 1];
	}
	free(kids);
	free(first);
	free(stack);
	return order;
}

/* The walk through time: what is open, and how much of each node's self weight was told. */
struct telling {
	const struct stacks *s;
	uint64_t *told; /* by node */
	struct stacks_moment *moment;
	size_t n, cap;
	uint32_t open; /* innermost node, 0: none */
};

static void tell(struct telling *t, uint32_t node, uint64_t upto)
{
	if (upto == t->told[node])
		return;
	if (t->n == t->cap) {
		t->cap = t->cap ? t->cap * 2 : 256;
		t->moment = mem_grow(t->moment, sizeof(*t->moment), t->cap);
	}
	t->moment[t->n++] = (struct stacks_moment){ node, upto - t->told[node] };
	t->told[node] = upto;
}

/* What is left of a frame's own follows its last callee. */
static void close_until(struct telling *t, uint32_t node)
{
	for (; t->open != node; t->open = t->s->node[t->open].parent)
		tell(t, t->open, t->s->self[0][t->open]);
}

struct stacks_moment *stacks_moments(const struct stacks *s, size_t *n)
{
	struct telling t = { .s = s, .told = mem_alloc(sizeof(*t.told), s->n) };
	uint64_t *totals = stacks_totals(s, 0);

	for (uint32_t id = 1; id < s->n; id++) {
		if (totals[id] == 0)
			continue; /* may stand anywhere */
		close_until(&t, s->node[id].parent);
		tell(&t, t.open, s->before[id]);
		t.open = id;
	}
	close_until(&t, 0);
	free(totals);
	free(t.told);
	*n = t.n;
	return t.moment;
}

#define AHEAD 16 /* nodes whose places are on their way from memory while others are merged */

bool stacks_merge_as(struct stacks *dst, const struct stacks *src, const uint32_t *frame)
{
	uint32_t *node = mem_alloc(sizeof(*node), src->n), *hash = mem_alloc(sizeof(*hash), src->n);
	bool fits = true;

	/* where a path stands depends on its frames only, so all places are known before */
	for (uint32_t id = 1; id < src->n; id++)
		hash[id] = hash_path(hash[src->node[id].parent], frame[src->node[id].frame]);
	if (dst->cap == 0)
		grow_nodes(dst);
	place(dst, src->n);
	for (uint32_t id = 0; id < src->n; id++) {
		if (id + 2 * AHEAD < src->n) {
			__builtin_prefetch(&dst->slot[hash[id + 2 * AHEAD] & dst->mask]);
			__builtin_prefetch(&dst->node[dst->slot[hash[id + AHEAD] & dst->mask]]);
		}
		if (id)
			node[id] = stacks_child(dst, node[src->node[id].parent], frame[src->node[id].frame]);
		for (unsigned c = 0; c < STACKS_COLUMNS; c++)
			if (src->self[c] && src->self[c][id])
				fits = stacks_add(dst, node[id], c, src->self[c][id]) && fits;
	}
	free(node);
	free(hash);
	return fits;
}

bool stacks_merge(struct stacks *dst, const struct stacks *src)
{
	uint32_t *frame = mem_alloc(sizeof(*frame), (size_t)src->frames.n + 1);
	bool fits;

	for (uint32_t id = 1; id <= src->frames.n; id++)
		frame[id] = stacks_frame(dst, intern_str(&src->frames, id));
	fits = stacks_merge_as(dst, src, frame);
	free(frame);
	return fits;
}

void stacks_swap(struct stacks *s)
{
	uint64_t *self, sum;

	stacks_add(s, 0, 0, 0);
	stacks_add(s, 0, 1, 0);
	self = s->self[0];
	sum = s->sum[0];
	s->self[0] = s->self[1];
	s->sum[0] = s->sum[1];
	s->self[1] = self;
	s->sum[1] = sum;
}

void stacks_free(struct stacks *s)
{
	intern_free(&s->frames);
	free(s->node);
	for (unsigned c = 0; c < STACKS_COLUMNS; c++)
		free(s->self[c]);
	free(s->slot);
	free(s->before);
	*s = (struct stacks){ 0 };
}
