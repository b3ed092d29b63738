/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stacks.h - a profile: a call tree with weights, whose nodes and frames are ids (uint32_t).
 *
 * A node is (parent node, frame id); node 0 is the root and has no frame. A stack is identified by the node of its
 * innermost frame. Node ids ascend in order of creation, so a parent's id is smaller than its children's, and one loop
 * from the last node down sums total weights. Memory grows with the number of distinct stacks, not of samples. Weights
 * are self weights, in one or two columns (two: a differential profile, before and after). Other modules may read all
 * members, but change them only through these functions.
 */
#ifndef PJ_STACKS_H
#define PJ_STACKS_H

#include "common/intern.h"

#define STACKS_COLUMNS 2

struct stacks_node {
	uint32_t parent;
	uint32_t frame;
};

struct stacks {
	bool in_time; /* true if siblings are in the order in which weights are added; set before the first call */
	struct intern frames;
	uint32_t n; /* number of nodes with the root; 0 before the first call */
	uint32_t cap;
	struct stacks_node *node;
	/* self weights by column and node; self[1] is NULL until column 1 gets a weight */
	uint64_t *self[STACKS_COLUMNS];
	uint64_t sum[STACKS_COLUMNS]; /* sum of all self weights, by column */
	uint32_t *slot;               /* hash table of nodes; NULL before the first lookup */
	/* Hash of the path from the root, by node: the table slot of a path can be computed before its nodes are
	 * found. */
	uint32_t *hash;
	uint32_t mask;
	uint32_t placed; /* nodes 1 to placed - 1 are in the hash table; the next lookup inserts the others */
	/* Equal to n if node ids are in preorder, siblings ascend by the bytes of their frames, and no frame contains a
	 * ';'. Any other value: this is not known. */
	uint32_t sorted;
	uint64_t *before; /* with in_time only, by node: self weight of the parent when the node was made */
	uint32_t last;    /* with in_time only: the node that got a weight last */
};

/*
 * With in_time, the tree has stacks in the order in which their weights are added. stacks_child finds only open nodes,
 * which are those on the path of the stack that got a weight last; otherwise it makes a new node. So siblings may have
 * equal frames, and the ids of nodes with weight are in preorder. Only one column is possible.
 */

/* Returns the id of the frame with this name; adds the frame if it is new. Equals intern(&stacks->frames, name). */
uint32_t stacks_frame(struct stacks *stacks, struct str name);

/* Returns the callee of node `parent` with this frame; adds it if it does not exist. */
uint32_t stacks_child(struct stacks *stacks, uint32_t parent, uint32_t frame);

/* Returns the callee of node `parent` with this frame, or 0 if there is none. With in_time it always returns 0. */
uint32_t stacks_find(struct stacks *stacks, uint32_t parent, uint32_t frame);

/* Prefetches the memory that stacks_child will read for a path of n frames: frame[0] below `node`, frame[1] below that
 * callee, and so on. */
void stacks_expect(const struct stacks *stacks, uint32_t node, const uint32_t *frame, size_t n);

/* Adds weight to the self weight of node in a column. Returns false, and changes nothing, if the sum of the column
 * would exceed 63 bits; so total weights cannot overflow. */
bool stacks_add(struct stacks *stacks, uint32_t node, unsigned column, uint64_t weight);

/* Returns the sum of all self weights of a column. */
uint64_t stacks_sum(const struct stacks *stacks, unsigned column);

/* Returns the total weights by node in one column, each with all nodes below it: an array of n elements, which the
 * caller frees. */
uint64_t *stacks_totals(const struct stacks *stacks, unsigned column);

/* A walk over all nodes except the root, depth first. Siblings come in the byte order of their frames, so equal trees
 * give equal sequences of (depth, frame name), in whatever order they were built. With in_time, siblings come in the
 * order of time. stacks must not change during a walk. */
struct stacks_walk {
	const struct stacks *s;
	uint32_t at;
	uint32_t *child, *next; /* first child and next sibling by node; NULL if the walk is in the order of ids */
};

void stacks_walk_begin(struct stacks_walk *walk, const struct stacks *stacks);
void stacks_walk_end(struct stacks_walk *walk);

/* Returns the next node of the walk; 0 at the end. */
static inline uint32_t stacks_walk_next(struct stacks_walk *walk)
{
	uint32_t to;

	if (!walk->child)
		return walk->at + 1 < walk->s->n ? ++walk->at : 0;
	for (to = walk->child[walk->at]; !to;
	     walk->at = walk->s->node[walk->at].parent) { /* go up to the first caller that has another callee */
		if (walk->at == 0)
			return 0;
		to = walk->next[walk->at];
		if (to)
			break;
	}
	return walk->at = to;
}

/* Returns all nodes except the root in the order of a stacks_walk: an array of n - 1 elements, which the caller
 * frees. */
uint32_t *stacks_order(const struct stacks *stacks);

/* An interval of time in which the stack did not change. The innermost frame of the stack is the frame of `node`;
 * weight is the length of the interval. */
struct stacks_moment {
	uint32_t node;
	uint64_t weight;
};

/* Returns all weights of a tree with in_time in the order in which they were added, adjacent weights of one stack as
 * their sum. Sets *n to the number of elements. The caller frees the array. */
struct stacks_moment *stacks_moments(const struct stacks *stacks, size_t *n);

/* Adds the stacks of src with their weights to dst. Returns false if the sum of a column would exceed 63 bits; the
 * weights that did not fit are then missing in dst. */
bool stacks_merge(struct stacks *dst, const struct stacks *src);

/* Like stacks_merge, but with a given map of frame ids: frame f of src is frame[f] of dst. */
bool stacks_merge_as(struct stacks *dst, const struct stacks *src, const uint32_t *frame);

/* Replaces frame id f by frame[f], an id in *names, in all nodes, and merges nodes that become equal. Takes ownership
 * of *names, which is empty afterwards. Not allowed with in_time. */
void stacks_rename(struct stacks *stacks, struct intern *names, const uint32_t *frame);

/* Exchanges both columns. If column 1 does not exist yet, adds it with weights of 0 first. */
void stacks_swap(struct stacks *stacks);

void stacks_free(struct stacks *stacks);

/* Makes space for more nodes. Only stacks.c and stacks_append call it. */
void stacks_grow(struct stacks *stacks);

/* Appends a node without a lookup and returns its id. Without in_time, the caller ensures that parent has no callee
 * with this frame yet. */
static inline uint32_t stacks_append(struct stacks *stacks, uint32_t parent, uint32_t frame)
{
	uint32_t id;

	if (unlikely(stacks->n >= stacks->cap))
		stacks_grow(stacks);
	id = stacks->n++; /* element `id` of all arrays is uninitialized until the lines below set it */
	stacks->node[id] = (struct stacks_node){ parent, frame };
	stacks->self[0][id] = 0;
	if (stacks->self[1])
		stacks->self[1][id] = 0;
	if (unlikely(stacks->in_time))
		stacks->before[id] = stacks->self[0][parent];
	return id;
}

#endif
