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

/* Inserts all nodes into the hash table, after it has enlarged the table for these nodes and `more` further ones. */
static void stacks_place(struct stacks *stacks, uint32_t more)
{
	uint64_t nslots = stacks->mask ? (uint64_t)stacks->mask + 1 : 1024;
	uint32_t from = stacks->placed;

	while ((uint64_t)stacks->n + more >= (nslots - 1) / 2)
		nslots *= 2;
	if (nslots > UINT32_MAX)
		die("more than 2 billion distinct stacks");
	if (nslots != (uint64_t)stacks->mask + 1) {
		free(stacks->slot);
		stacks->slot = mem_alloc(sizeof(*stacks->slot), nslots);
		stacks->mask = (uint32_t)nslots - 1;
		stacks->placed = 0;
	}
	if (!stacks->hash)
		stacks->hash = mem_alloc(sizeof(*stacks->hash), stacks->cap);
	for (uint32_t id = stacks->placed ? stacks->placed : 1; id < stacks->n; id++) {
		uint32_t i;

		if (id >= from)
			stacks->hash[id] = hash_path(stacks->hash[stacks->node[id].parent], stacks->node[id].frame);
		for (i = stacks->hash[id] & stacks->mask; stacks->slot[i]; i = (i + 1) & stacks->mask)
			;
		stacks->slot[i] = id;
	}
	stacks->placed = stacks->n;
}

/* Grows the arrays by half, not to twice their size, because they take most of the memory of a tool. */
void stacks_grow(struct stacks *stacks)
{
	uint32_t cap = stacks->cap ? stacks->cap + stacks->cap / 2 : 512;

	if (stacks->n > UINT32_MAX / 2)
		die("more than 2 billion distinct stacks");
	stacks->node = mem_grow(stacks->node, sizeof(*stacks->node), cap);
	for (unsigned c = 0; c < STACKS_COLUMNS; c++) {
		if (c > 0 && !stacks->self[c])
			continue; /* column 1 has no array: most profiles have one column */
		stacks->self[c] = mem_grow(stacks->self[c], sizeof(**stacks->self), cap);
	}
	if (stacks->in_time)
		stacks->before = mem_grow(stacks->before, sizeof(*stacks->before), cap);
	if (stacks->hash)
		stacks->hash = mem_grow(stacks->hash, sizeof(*stacks->hash), cap);
	stacks->cap = cap;
	if (stacks->n == 0) {
		stacks->node[0] = (struct stacks_node){ 0 };
		stacks->self[0][0] = 0;
		if (stacks->in_time)
			stacks->before[0] = 0;
		stacks->n = 1;
	}
}

uint32_t stacks_frame(struct stacks *stacks, struct str name)
{
	return intern(&stacks->frames, name);
}

/* Returns the callee of parent with this frame if it is on the path to the node `last`; otherwise appends a new callee.
 * The search goes up from `last` and ends at parent, since callers have smaller ids. */
static uint32_t open_child(struct stacks *stacks, uint32_t parent, uint32_t frame)
{
	for (uint32_t id = stacks->last; id > parent; id = stacks->node[id].parent) {
		if (stacks->node[id].parent == parent && stacks->node[id].frame == frame)
			return id;
	}
	return stacks_append(stacks, parent, frame);
}

/* Does the work of stacks_child for all calls that its fast path cannot serve: the tables must change first, or the
 * node may not exist yet. */
static uint32_t stacks_new_child(struct stacks *stacks, uint32_t parent, uint32_t frame)
{
	uint32_t i, id, hash;

	if (unlikely(stacks->in_time))
		return open_child(stacks, parent, frame);
	if (unlikely(stacks->n >= stacks->cap))
		stacks_grow(stacks);
	if (unlikely(stacks->placed != stacks->n || stacks->n >= stacks->mask / 2))
		stacks_place(stacks, 0);
	hash = hash_path(stacks->hash[parent], frame);
	for (i = hash & stacks->mask; (id = stacks->slot[i]) != 0; i = (i + 1) & stacks->mask)
		if (stacks->node[id].parent == parent && stacks->node[id].frame == frame)
			return id;
	id = stacks_append(stacks, parent, frame);
	stacks->hash[id] = hash;
	stacks->slot[i] = id;
	stacks->placed = stacks->n;
	return id;
}

/* Fast path: most calls find an existing node. The path calls no function, so the compiler saves no registers for
 * it. */
uint32_t stacks_child(struct stacks *stacks, uint32_t parent, uint32_t frame)
{
	if (likely(!stacks->in_time && stacks->n && stacks->placed == stacks->n)) {
		const struct stacks_node *node = stacks->node;
		const uint32_t *slot = stacks->slot;
		uint32_t mask = stacks->mask, id;

		for (uint32_t i = hash_path(stacks->hash[parent], frame) & mask; (id = slot[i]) != 0;
		     i = (i + 1) & mask)
			if (node[id].frame == frame && node[id].parent == parent)
				return id;
	}
	return stacks_new_child(stacks, parent, frame);
}

uint32_t stacks_find(struct stacks *stacks, uint32_t parent, uint32_t frame)
{
	uint32_t id = 0;

	if (stacks->in_time || stacks->n == 0)
		return 0;
	if (stacks->placed != stacks->n)
		stacks_place(stacks, 0);
	for (uint32_t i = hash_path(stacks->hash[parent], frame) & stacks->mask; (id = stacks->slot[i]) != 0;
	     i = (i + 1) & stacks->mask)
		if (stacks->node[id].parent == parent && stacks->node[id].frame == frame)
			break;
	return id;
}

void stacks_expect(const struct stacks *stacks, uint32_t node, const uint32_t *frame, size_t n)
{
	uint32_t hash, h;

	if (!stacks->placed)
		return;
	hash = h = stacks->hash[node];
	for (size_t i = 0; i < n; i++) {
		h = hash_path(h, frame[i]);
		__builtin_prefetch(&stacks->slot[h & stacks->mask]);
	}
	for (size_t i = 0; i < n; i++) {
		hash = hash_path(hash, frame[i]);
		__builtin_prefetch(&stacks->node[stacks->slot[hash & stacks->mask]]);
	}
}

static void add_column(struct stacks *stacks, unsigned column)
{
	if (stacks->cap == 0)
		stacks_grow(stacks);
	if (!stacks->self[column])
		stacks->self[column] = mem_alloc(sizeof(**stacks->self), stacks->cap);
}

bool stacks_add(struct stacks *stacks, uint32_t node, unsigned column, uint64_t weight)
{
	if (unlikely(!stacks->self[column]))
		add_column(stacks, column);
	if (unlikely(weight > WEIGHT_MAX - stacks->sum[column]))
		return false;
	stacks->sum[column] += weight;
	stacks->self[column][node] += weight;
	if (weight)
		stacks->last = node;
	return true;
}

uint64_t stacks_sum(const struct stacks *stacks, unsigned column)
{
	return stacks->sum[column];
}

uint64_t *stacks_totals(const struct stacks *stacks, unsigned column)
{
	uint64_t *total;

	if (!stacks->n || !stacks->self[column])
		return mem_alloc(sizeof(*total), stacks->n);
	total = mem_grow(NULL, sizeof(*total), stacks->n);
	memcpy(total, stacks->self[column], stacks->n * sizeof(*total));
	for (uint32_t id = stacks->n; id-- > 1;)
		total[stacks->node[id].parent] += total[id];
	return total;
}

/* Merges two lists of siblings, a and b, that ascend by rank of their frames, and returns the merged list. next: next
 * sibling by node; rank: by frame id. Among equal frames, nodes of list a come first. */
static uint32_t merge_siblings(uint32_t a, uint32_t b, uint32_t *next, const struct stacks *stacks,
			       const uint32_t *rank)
{
	uint32_t first = 0, *end = &first;

	while (a && b) {
		uint32_t *least = rank[stacks->node[b].frame] < rank[stacks->node[a].frame] ? &b : &a;

		*end = *least;
		end = &next[*least];
		*least = *end;
	}
	*end = a ? a : b;
	return first;
}

/* Removes the first run of ascending ranks from *list, a list of siblings linked by next[], and returns the run. *list
 * becomes the rest of the list. */
static uint32_t cut_run(uint32_t *list, uint32_t *next, const struct stacks *stacks, const uint32_t *rank)
{
	uint32_t first = *list, last = first;

	while (next[last] && rank[stacks->node[last].frame] < rank[stacks->node[next[last]].frame])
		last = next[last];
	*list = next[last];
	next[last] = 0;
	return first;
}

/* Sorts a list of siblings, linked by next[], by rank of their frames, and returns the sorted list. Merge sort of its
 * ascending runs: runs[i] is the merged list of 2^i runs, or empty. */
static uint32_t sort_siblings(uint32_t list, uint32_t *next, const struct stacks *stacks, const uint32_t *rank)
{
	uint32_t runs[33] = { 0 }, all = 0;

	while (list) {
		uint32_t run = cut_run(&list, next, stacks, rank);
		unsigned i = 0;

		for (; runs[i]; i++) {
			run = merge_siblings(runs[i], run, next, stacks, rank);
			runs[i] = 0;
		}
		runs[i] = run;
	}
	for (unsigned i = 0; i < countof(runs); i++)
		all = merge_siblings(runs[i], all, next, stacks, rank);
	return all;
}

/* Makes a list of each node's children that ascends by rank: child[] has the first child, next[] the next sibling. In
 * order of creation most lists ascend already, or have two ascending runs, because the text was sorted by bytes. */
static void list_children(const struct stacks *stacks, const uint32_t *rank, uint32_t *child, uint32_t *next)
{
	/* bitmap of the nodes whose lists of children must be sorted */
	uint64_t *unsorted = mem_alloc(sizeof(*unsorted), stacks->n / 64 + 1);

	for (uint32_t id = stacks->n; id-- > 1;) {
		const struct stacks_node *node = &stacks->node[id];
		uint32_t after = child[node->parent];

		next[id] = after;
		child[node->parent] = id;
		if (unlikely(after && rank[node->frame] >= rank[stacks->node[after].frame]))
			unsorted[node->parent / 64] |= 1ull << node->parent % 64;
	}
	for (uint32_t i = 0; i <= stacks->n / 64; i++) {
		for (uint64_t bits = unsorted[i]; bits; bits &= bits - 1) {
			uint32_t parent = i * 64 + (uint32_t)__builtin_ctzll(bits);

			child[parent] = sort_siblings(child[parent], next, stacks, rank);
		}
	}
	free(unsorted);
}

void stacks_walk_begin(struct stacks_walk *walk, const struct stacks *stacks)
{
	uint32_t *rank;

	*walk = (struct stacks_walk){ .s = stacks };
	if (stacks->in_time || stacks->sorted == stacks->n)
		return;
	rank = intern_ranks(&stacks->frames);
	walk->child = mem_alloc(sizeof(*walk->child), stacks->n);
	walk->next = mem_alloc(sizeof(*walk->next), stacks->n);
	list_children(stacks, rank, walk->child, walk->next);
	free(rank);
}

void stacks_walk_end(struct stacks_walk *walk)
{
	free(walk->child);
	free(walk->next);
}

uint32_t *stacks_order(const struct stacks *stacks)
{
	uint32_t *order = mem_alloc(sizeof(*order), stacks->n), n = 0;
	struct stacks_walk walk;

	stacks_walk_begin(&walk, stacks);
	for (uint32_t id; (id = stacks_walk_next(&walk)) != 0;)
		order[n++] = id;
	stacks_walk_end(&walk);
	return order;
}

/* State of stacks_moments: the innermost open node, and the part of each self weight that was already reported. */
struct moments {
	const struct stacks *s;
	uint64_t *reported; /* reported part of the self weight, by node */
	struct stacks_moment *moment;
	size_t n, cap;
	uint32_t open; /* innermost open node; 0 if none is open */
};

static void stacks_report(struct moments *moments, uint32_t node, uint64_t upto)
{
	if (upto == moments->reported[node])
		return;
	if (moments->n == moments->cap) {
		moments->cap = moments->cap ? moments->cap * 2 : 256;
		moments->moment = mem_grow(moments->moment, sizeof(*moments->moment), moments->cap);
	}
	moments->moment[moments->n++] = (struct stacks_moment){ node, upto - moments->reported[node] };
	moments->reported[node] = upto;
}

/* Closes the open nodes below `node`, and reports the unreported rest of their self weights, which was added after
 * their last callee. */
static void close_until(struct moments *moments, uint32_t node)
{
	for (; moments->open != node; moments->open = moments->s->node[moments->open].parent)
		stacks_report(moments, moments->open, moments->s->self[0][moments->open]);
}

struct stacks_moment *stacks_moments(const struct stacks *stacks, size_t *n)
{
	struct moments moments = { .s = stacks, .reported = mem_alloc(sizeof(*moments.reported), stacks->n) };
	uint64_t *totals = stacks_totals(stacks, 0);

	for (uint32_t id = 1; id < stacks->n; id++) {
		if (totals[id] == 0)
			continue; /* skips a node without weight, which has no position in time */
		close_until(&moments, stacks->node[id].parent);
		stacks_report(&moments, moments.open, stacks->before[id]);
		moments.open = id;
	}
	close_until(&moments, 0);
	free(totals);
	free(moments.reported);
	*n = moments.n;
	return moments.moment;
}

#define AHEAD 16 /* distance of prefetches, in nodes of src */

bool stacks_merge_as(struct stacks *dst, const struct stacks *src, const uint32_t *frame)
{
	uint32_t *node = mem_alloc(sizeof(*node), src->n), *hash = mem_alloc(sizeof(*hash), src->n);
	bool fits = true;

	/* a node's slot in the table depends only on its path, so all hashes can be computed first, for the
	 * prefetches */
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

/* ---- renaming of frames ------------------------------------------------------------------------------------------ */

/* A map from (parent, frame) to a node. */
struct pairs {
	struct intern key;
	uint32_t *node; /* by id of the key: first node with this parent and frame */
	uint32_t cap;
};

/* Returns the first node with this parent and frame. If the map has none, adds `node` and returns it. */
static uint32_t pairs_first(struct pairs *pairs, uint32_t parent, uint32_t frame, uint32_t node)
{
	uint32_t key[2] = { parent, frame }, known = pairs->key.n;
	uint32_t id = intern(&pairs->key, (struct str){ (const char *)key, sizeof(key) });

	if (id > known) {
		if (id >= pairs->cap) {
			pairs->cap = pairs->cap ? pairs->cap * 2 : 128;
			pairs->node = mem_grow(pairs->node, sizeof(*pairs->node), pairs->cap);
		}
		pairs->node[id] = node;
	}
	return pairs->node[id];
}

static void pairs_free(struct pairs *pairs)
{
	intern_free(&pairs->key);
	free(pairs->node);
}

/* Replaces the frame id of every node by frame[id], an id from 1 to nnames. Returns an array by node: true if the node
 * may now equal another one, that is, if the node or an ancestor may have a sibling of the same name. Sets *n to the
 * number of true elements. Returns NULL if there are none; otherwise the caller frees the array. */
static bool *name_nodes(struct stacks *stacks, uint32_t nnames, const uint32_t *frame, uint32_t *n)
{
	/* by name: number of frames that now have this name; 2 stands for more than one */
	uint8_t *several = mem_alloc(sizeof(*several), (size_t)nnames + 1);
	struct pairs pairs = { 0 };
	bool *shared = NULL;

	for (uint32_t f = 1; f <= stacks->frames.n; f++)
		several[frame[f]] = several[frame[f]] ? 2 : 1;
	for (uint32_t id = 1; id < stacks->n; id++) {
		struct stacks_node *node = &stacks->node[id];
		uint32_t first;

		node->frame = frame[node->frame];
		if (likely(several[node->frame] < 2))
			continue;
		first = pairs_first(&pairs, node->parent, node->frame, id);
		if (first == id)
			continue;
		if (!shared)
			shared = mem_alloc(sizeof(*shared), stacks->n);
		shared[first] = shared[id] = true;
	}
	*n = 0;
	for (uint32_t id = 1; id < stacks->n && shared; id++) {
		shared[id] = shared[id] || shared[stacks->node[id].parent];
		*n += shared[id];
	}
	pairs_free(&pairs);
	free(several);
	return shared;
}

/* Merges nodes of equal parent and frame in place: every node keeps its id or gets a smaller one. Only nodes in
 * shared[] can be equal to others, so only these are looked up. */
static void unite_in_place(struct stacks *stacks, const bool *shared)
{
	uint32_t *to = mem_alloc(sizeof(*to), stacks->n), n = 1;
	struct pairs pairs = { 0 };

	for (uint32_t id = 1; id < stacks->n; id++) {
		struct stacks_node node = { to[stacks->node[id].parent], stacks->node[id].frame };
		bool is_new;

		to[id] = shared[id] ? pairs_first(&pairs, node.parent, node.frame, n) : n;
		is_new = to[id] == n;
		if (is_new)
			stacks->node[n++] = node;
		for (unsigned c = 0; c < STACKS_COLUMNS; c++)
			if (stacks->self[c] && to[id] != id)
				stacks->self[c][to[id]] = (is_new ? 0 : stacks->self[c][to[id]]) + stacks->self[c][id];
	}
	stacks->n = n;
	pairs_free(&pairs);
	free(to);
}

/* Merges nodes of equal parent and frame by copying all nodes to a new tree. This needs a hash table of all nodes. */
static void stacks_unite(struct stacks *stacks)
{
	struct stacks to = { .frames = stacks->frames };
	uint32_t *same = mem_alloc(sizeof(*same), (size_t)stacks->frames.n + 1);

	for (uint32_t f = 1; f <= stacks->frames.n; f++)
		same[f] = f;
	stacks_merge_as(&to, stacks, same); /* cannot fail, because the sums of the columns are those of the old tree */
	stacks->frames = (struct intern){ 0 };
	stacks_free(stacks);
	*stacks = to;
	free(same);
}

void stacks_rename(struct stacks *stacks, struct intern *names, const uint32_t *frame)
{
	uint32_t nshared;
	bool *shared = name_nodes(stacks, names->n, frame, &nshared);

	intern_free(&stacks->frames);
	stacks->frames = *names;
	*names = (struct intern){ 0 };
	free(stacks->slot);
	free(stacks->hash);
	stacks->slot = stacks->hash = NULL;
	stacks->mask = stacks->placed = stacks->sorted = 0;
	if (nshared > stacks->n / 8) /* if many nodes may be equal, a hash table of all nodes is cheaper */
		stacks_unite(stacks);
	else if (nshared)
		unite_in_place(stacks, shared);
	free(shared);
}

void stacks_swap(struct stacks *stacks)
{
	uint64_t *self, sum;

	stacks_add(stacks, 0, 0, 0);
	stacks_add(stacks, 0, 1, 0);
	self = stacks->self[0];
	sum = stacks->sum[0];
	stacks->self[0] = stacks->self[1];
	stacks->sum[0] = stacks->sum[1];
	stacks->self[1] = self;
	stacks->sum[1] = sum;
}

void stacks_free(struct stacks *stacks)
{
	intern_free(&stacks->frames);
	free(stacks->node);
	for (unsigned c = 0; c < STACKS_COLUMNS; c++)
		free(stacks->self[c]);
	free(stacks->slot);
	free(stacks->hash);
	free(stacks->before);
	*stacks = (struct stacks){ 0 };
}
