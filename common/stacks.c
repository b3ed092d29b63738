/* SPDX-License-Identifier: Apache-2.0 */
#include "common/stacks.h"

#include "common/diag.h"
#include "common/hash.h"

#include <stdlib.h>

#define WEIGHT_MAX ((uint64_t)INT64_MAX)

static uint32_t hash_path(uint32_t parent_hash, uint32_t frame)
{
	return (uint32_t)hash_number((uint64_t)parent_hash << 32 | frame);
}

/* Brings all nodes into the table, which gets room for that many more. */
static void stacks_place(struct stacks *s, uint32_t more)
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
	if (!s->hash)
		s->hash = mem_alloc(sizeof(*s->hash), s->cap);
	for (uint32_t id = s->placed ? s->placed : 1; id < s->n; id++) {
		uint32_t i;

		if (id >= from)
			s->hash[id] = hash_path(s->hash[s->node[id].parent], s->node[id].frame);
		for (i = s->hash[id] & s->mask; s->slot[i]; i = (i + 1) & s->mask)
			;
		s->slot[i] = id;
	}
	s->placed = s->n;
}

/* 1.5 times: the tables are most of the memory of a run. */
void stacks_grow(struct stacks *s)
{
	uint32_t cap = s->cap ? s->cap + s->cap / 2 : 512;

	if (s->n > UINT32_MAX / 2)
		die("more than 2 billion distinct stacks");
	s->node = mem_grow(s->node, sizeof(*s->node), cap);
	for (unsigned c = 0; c < STACKS_COLUMNS; c++) {
		if (c > 0 && !s->self[c])
			continue; /* most profiles have one column */
		s->self[c] = mem_grow(s->self[c], sizeof(**s->self), cap);
	}
	if (s->in_time)
		s->before = mem_grow(s->before, sizeof(*s->before), cap);
	if (s->hash)
		s->hash = mem_grow(s->hash, sizeof(*s->hash), cap);
	s->cap = cap;
	if (s->n == 0) {
		s->node[0] = (struct stacks_node){ 0 };
		s->self[0][0] = 0;
		if (s->in_time)
			s->before[0] = 0;
		s->n = 1;
	}
}

uint32_t stacks_frame(struct stacks *s, struct str name)
{
	return intern(&s->frames, name);
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
		stacks_grow(s);
	if (unlikely(s->placed != s->n || s->n >= s->mask / 2))
		stacks_place(s, 0);
	hash = hash_path(s->hash[parent], frame);
	for (i = hash & s->mask; (id = s->slot[i]) != 0; i = (i + 1) & s->mask)
		if (s->node[id].parent == parent && s->node[id].frame == frame)
			return id;
	id = stacks_append(s, parent, frame);
	s->hash[id] = hash;
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
		stacks_place(s, 0);
	for (uint32_t i = hash_path(s->hash[parent], frame) & s->mask; (id = s->slot[i]) != 0; i = (i + 1) & s->mask)
		if (s->node[id].parent == parent && s->node[id].frame == frame)
			break;
	return id;
}

void stacks_expect(const struct stacks *s, uint32_t node, const uint32_t *frame, size_t n)
{
	uint32_t hash, h;

	if (!s->placed)
		return;
	hash = h = s->hash[node];
	for (size_t i = 0; i < n; i++) {
		h = hash_path(h, frame[i]);
		__builtin_prefetch(&s->slot[h & s->mask]);
	}
	for (size_t i = 0; i < n; i++) {
		hash = hash_path(hash, frame[i]);
		__builtin_prefetch(&s->node[s->slot[hash & s->mask]]);
	}
}

static void add_column(struct stacks *s, unsigned column)
{
	if (s->cap == 0)
		stacks_grow(s);
	if (!s->self[column])
		s->self[column] = mem_alloc(sizeof(**s->self), s->cap);
}

bool stacks_add(struct stacks *s, uint32_t node, unsigned column, uint64_t weight)
{
	if (unlikely(!s->self[column]))
		add_column(s, column);
	if (unlikely(weight > WEIGHT_MAX - s->sum[column]))
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

/* Siblings of two lists that ascend by rank become one. Of equals those of a come first. */
static uint32_t merge_siblings(uint32_t a, uint32_t b, uint32_t *next, const struct stacks *s, const uint32_t *rank)
{
	uint32_t first = 0, *end = &first;

	while (a && b) {
		uint32_t *least = rank[s->node[b].frame] < rank[s->node[a].frame] ? &b : &a;

		*end = *least;
		end = &next[*least];
		*least = *end;
	}
	*end = a ? a : b;
	return first;
}

/* Cuts the first run that ascends off; *list is what follows it. */
static uint32_t cut_run(uint32_t *list, uint32_t *next, const struct stacks *s, const uint32_t *rank)
{
	uint32_t first = *list, last = first;

	while (next[last] && rank[s->node[last].frame] < rank[s->node[next[last]].frame])
		last = next[last];
	*list = next[last];
	next[last] = 0;
	return first;
}

/* Merge sort of the runs that are there: runs[i] holds 2^i of them or none. */
static uint32_t sort_siblings(uint32_t list, uint32_t *next, const struct stacks *s, const uint32_t *rank)
{
	uint32_t runs[33] = { 0 }, all = 0;

	while (list) {
		uint32_t run = cut_run(&list, next, s, rank);
		unsigned i = 0;

		for (; runs[i]; i++) {
			run = merge_siblings(runs[i], run, next, s, rank);
			runs[i] = 0;
		}
		runs[i] = run;
	}
	for (unsigned i = 0; i < countof(runs); i++)
		all = merge_siblings(runs[i], all, next, s, rank);
	return all;
}

/* Children as lists that ascend by rank. In order of creation most do: by bytes when sorted text was read, or two such
 * runs. */
static void list_children(const struct stacks *s, const uint32_t *rank, uint32_t *child, uint32_t *next)
{
	uint64_t *unsorted = mem_alloc(sizeof(*unsorted), s->n / 64 + 1); /* a bit a parent */

	for (uint32_t id = s->n; id-- > 1;) {
		const struct stacks_node *node = &s->node[id];
		uint32_t after = child[node->parent];

		next[id] = after;
		child[node->parent] = id;
		if (unlikely(after && rank[node->frame] >= rank[s->node[after].frame]))
			unsorted[node->parent / 64] |= 1ull << node->parent % 64;
	}
	for (uint32_t i = 0; i <= s->n / 64; i++) {
		for (uint64_t bits = unsorted[i]; bits; bits &= bits - 1) {
			uint32_t parent = i * 64 + (uint32_t)__builtin_ctzll(bits);

			child[parent] = sort_siblings(child[parent], next, s, rank);
		}
	}
	free(unsorted);
}

void stacks_walk_begin(struct stacks_walk *w, const struct stacks *s)
{
	uint32_t *rank;

	*w = (struct stacks_walk){ .s = s };
	if (s->in_time || s->sorted == s->n)
		return;
	rank = intern_ranks(&s->frames);
	w->child = mem_alloc(sizeof(*w->child), s->n);
	w->next = mem_alloc(sizeof(*w->next), s->n);
	list_children(s, rank, w->child, w->next);
	free(rank);
}

void stacks_walk_end(struct stacks_walk *w)
{
	free(w->child);
	free(w->next);
}

uint32_t *stacks_order(const struct stacks *s)
{
	uint32_t *order = mem_alloc(sizeof(*order), s->n), n = 0;
	struct stacks_walk w;

	stacks_walk_begin(&w, s);
	for (uint32_t id; (id = stacks_walk_next(&w)) != 0;)
		order[n++] = id;
	stacks_walk_end(&w);
	return order;
}

/* The walk through time: what is open, and how much of each node's self weight was told. */
struct telling {
	const struct stacks *s;
	uint64_t *reported; /* by node */
	struct stacks_moment *moment;
	size_t n, cap;
	uint32_t open; /* innermost node, 0: none */
};

static void stacks_report(struct telling *t, uint32_t node, uint64_t upto)
{
	if (upto == t->reported[node])
		return;
	if (t->n == t->cap) {
		t->cap = t->cap ? t->cap * 2 : 256;
		t->moment = mem_grow(t->moment, sizeof(*t->moment), t->cap);
	}
	t->moment[t->n++] = (struct stacks_moment){ node, upto - t->reported[node] };
	t->reported[node] = upto;
}

/* What is left of a frame's own follows its last callee. */
static void close_until(struct telling *t, uint32_t node)
{
	for (; t->open != node; t->open = t->s->node[t->open].parent)
		stacks_report(t, t->open, t->s->self[0][t->open]);
}

struct stacks_moment *stacks_moments(const struct stacks *s, size_t *n)
{
	struct telling t = { .s = s, .reported = mem_alloc(sizeof(*t.reported), s->n) };
	uint64_t *totals = stacks_totals(s, 0);

	for (uint32_t id = 1; id < s->n; id++) {
		if (totals[id] == 0)
			continue; /* may stand anywhere */
		close_until(&t, s->node[id].parent);
		stacks_report(&t, t.open, s->before[id]);
		t.open = id;
	}
	close_until(&t, 0);
	free(totals);
	free(t.reported);
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
		stacks_grow(dst);
	stacks_place(dst, src->n);
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

/* ---- renaming ------------------------------------------------------------------------------------------------ */

/* Nodes by parent and frame. */
struct pairs {
	struct intern key;
	uint32_t *node; /* by id of the key */
	uint32_t cap;
};

/* The node that came first with them: may be this one. */
static uint32_t pairs_first(struct pairs *p, uint32_t parent, uint32_t frame, uint32_t node)
{
	uint32_t key[2] = { parent, frame }, known = p->key.n;
	uint32_t id = intern(&p->key, (struct str){ (const char *)key, sizeof(key) });

	if (id > known) {
		if (id >= p->cap) {
			p->cap = p->cap ? p->cap * 2 : 128;
			p->node = mem_grow(p->node, sizeof(*p->node), p->cap);
		}
		p->node[id] = node;
	}
	return p->node[id];
}

static void pairs_free(struct pairs *p)
{
	intern_free(&p->key);
	free(p->node);
}

/*
 * Gives every node's frame its name. Returns the nodes that may become one with another: siblings whose frames have the
 * same name now, and all below them. *n is how many; NULL: none.
 */
static bool *name_nodes(struct stacks *s, uint32_t nnames, const uint32_t *frame, uint32_t *n)
{
	uint8_t *several = mem_alloc(sizeof(*several), (size_t)nnames + 1); /* frames have that name */
	struct pairs pairs = { 0 };
	bool *shared = NULL;

	for (uint32_t f = 1; f <= s->frames.n; f++)
		several[frame[f]] = several[frame[f]] ? 2 : 1;
	for (uint32_t id = 1; id < s->n; id++) {
		struct stacks_node *node = &s->node[id];
		uint32_t first;

		node->frame = frame[node->frame];
		if (likely(several[node->frame] < 2))
			continue;
		first = pairs_first(&pairs, node->parent, node->frame, id);
		if (first == id)
			continue;
		if (!shared)
			shared = mem_alloc(sizeof(*shared), s->n);
		shared[first] = shared[id] = true;
	}
	*n = 0;
	for (uint32_t id = 1; id < s->n && shared; id++) {
		shared[id] = shared[id] || shared[s->node[id].parent];
		*n += shared[id];
	}
	pairs_free(&pairs);
	free(several);
	return shared;
}

/* Every node goes to a place before its own, or stays. Only shared ones are looked up. */
static void unite_in_place(struct stacks *s, const bool *shared)
{
	uint32_t *to = mem_alloc(sizeof(*to), s->n), n = 1;
	struct pairs pairs = { 0 };

	for (uint32_t id = 1; id < s->n; id++) {
		struct stacks_node node = { to[s->node[id].parent], s->node[id].frame };
		bool is_new;

		to[id] = shared[id] ? pairs_first(&pairs, node.parent, node.frame, n) : n;
		is_new = to[id] == n;
		if (is_new)
			s->node[n++] = node;
		for (unsigned c = 0; c < STACKS_COLUMNS; c++)
			if (s->self[c] && to[id] != id)
				s->self[c][to[id]] = (is_new ? 0 : s->self[c][to[id]]) + s->self[c][id];
	}
	s->n = n;
	pairs_free(&pairs);
	free(to);
}

/* By a table of all nodes. */
static void stacks_unite(struct stacks *s)
{
	struct stacks to = { .frames = s->frames };
	uint32_t *same = mem_alloc(sizeof(*same), (size_t)s->frames.n + 1);

	for (uint32_t f = 1; f <= s->frames.n; f++)
		same[f] = f;
	stacks_merge_as(&to, s, same); /* the sums are the same: they fit */
	s->frames = (struct intern){ 0 };
	stacks_free(s);
	*s = to;
	free(same);
}

void stacks_rename(struct stacks *s, struct intern *names, const uint32_t *frame)
{
	uint32_t nshared;
	bool *shared = name_nodes(s, names->n, frame, &nshared);

	intern_free(&s->frames);
	s->frames = *names;
	*names = (struct intern){ 0 };
	free(s->slot);
	free(s->hash);
	s->slot = s->hash = NULL;
	s->mask = s->placed = s->sorted = 0;
	if (nshared > s->n / 8) /* then a table is cheaper */
		stacks_unite(s);
	else if (nshared)
		unite_in_place(s, shared);
	free(shared);
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
	free(s->hash);
	free(s->before);
	*s = (struct stacks){ 0 };
}
