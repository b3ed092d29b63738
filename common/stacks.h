/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stacks.h - a profile: a weighted call tree of u32 ids.
 *
 * A node is (parent node, frame id); node 0 is the root and has no frame. A stack is the node of its innermost frame.
 * Nodes are numbered in order of creation, so a parent's number is always smaller than its children's: one loop
 * downwards sums totals. Memory grows with distinct stacks, never with samples. Weights are self weights, in one or
 * two columns (two: a differential profile, before and after). Everything may be read; only the functions here write.
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
	bool in_time; /* true if siblings are in the order of time (stacks_moments); set before the first call */
	struct intern frames;
	uint32_t n; /* number of nodes, including the root; 0 before the first call */
	uint32_t cap;
	struct stacks_node *node;
	/* self weight of each node by column; [1] is NULL until column 1 gets a weight */
	uint64_t *self[STACKS_COLUMNS];
	uint64_t sum[STACKS_COLUMNS]; /* sum of all self weights of each column */
	uint32_t *slot;               /* hash table of nodes, made at the first lookup */
	/* Hash of each node's path from the root. A path's table slot is therefore known before its nodes are. */
	uint32_t *hash;
	uint32_t mask;
	uint32_t placed; /* the table has nodes 1 to placed - 1; the next lookup inserts the others */
	/* If sorted equals n, the nodes are in preorder, siblings ascend by the bytes of their frames, and no frame
	 * contains a ';'. */
	uint32_t sorted;
	uint64_t *before; /* for each node, only in time: self weight of its parent when the node was made */
	uint32_t last;    /* only in time: node that got a weight last */
};

/*
 * With in_time, stacks follow each other in the order in which their weights are added. stacks_child finds only open
 * nodes, that is, those on the path of the last weight; otherwise it makes a new node. So equal siblings may repeat,
 * and numbers are in preorder among the nodes with weight. One column only.
 */

/* Returns the id of a frame by its name, which it adds if it is new: intern(&stacks->frames, name). */
uint32_t stacks_frame(struct stacks *stacks, struct str name);

/* Returns the node of `frame` as a callee of `parent`; adds it if it does not exist. */
uint32_t stacks_child(struct stacks *stacks, uint32_t parent, uint32_t frame);

/* Returns the node of `frame` as a callee of `parent`, or 0 if there is none. With in_time it always returns 0. */
uint32_t stacks_find(struct stacks *stacks, uint32_t parent, uint32_t frame);

/* Prefetches memory for n calls of stacks_child: with frame[0] below `node`, with frame[1] below the result, and so
 * on. */
void stacks_expect(const struct stacks *stacks, uint32_t node, const uint32_t *frame, size_t n);

/* Adds weight to the self weight of node. Returns false, without a change, if the sum of all weights of that column
 * would exceed 63 bits; so total weights always fit. */
bool stacks_add(struct stacks *stacks, uint32_t node, unsigned column, uint64_t weight);

/* Returns the sum of all self weights of a column. */
uint64_t stacks_sum(const struct stacks *stacks, unsigned column);

/* Returns the total weight of each node, which includes all nodes below it: an array of n elements, which the caller
 * frees. */
uint64_t *stacks_totals(const struct stacks *stacks, unsigned column);

/* A walk over all nodes except the root, depth first. Siblings are in the byte order of their frames: equal trees give
 * equal sequences of (depth, frame bytes), however they were built. With in_time, siblings are in the order of time.
 * Nothing may be added to stacks during a walk. */
struct stacks_walk {
	const struct stacks *s;
	uint32_t at;
	uint32_t *child, *next; /* lists of children by node; NULL if the order of numbers is that of the walk */
};

void stacks_walk_begin(struct stacks_walk *walk, const struct stacks *stacks);
void stacks_walk_end(struct stacks_walk *walk);

/* Returns the next node; 0 at the end. */
static inline uint32_t stacks_walk_next(struct stacks_walk *walk)
{
	uint32_t to;

	if (!walk->child)
		return walk->at + 1 < walk->s->n ? ++walk->at : 0;
	for (to = walk->child[walk->at]; !to;
	     walk->at = walk->s->node[walk->at].parent) { /* return to the first caller that has another callee */
		if (walk->at == 0)
			return 0;
		to = walk->next[walk->at];
		if (to)
			break;
	}
	return walk->at = to;
}

/* Returns all nodes except the root in the order of a walk: an array of n - 1 elements, which the caller frees. */
uint32_t *stacks_order(const struct stacks *stacks);

/* An interval of time in which the stack did not change; weight is its length. */
struct stacks_moment {
	uint32_t node;
	uint64_t weight;
};

/* With in_time: returns all weights in the order in which they were added; equal neighbours are one. Sets *n to their
 * number; the caller frees the result. */
struct stacks_moment *stacks_moments(const struct stacks *stacks, size_t *n);

/* Adds all weights of src to dst. Returns false if the sum of a column would exceed 63 bits. */
bool stacks_merge(struct stacks *dst, const struct stacks *src);

/* Like stacks_merge; frame[f] is the frame of dst for frame f of src. */
bool stacks_merge_as(struct stacks *dst, const struct stacks *src, const uint32_t *frame);

/* Renames each frame f to frame[f], an id in *names, and merges nodes that become equal. Takes ownership of *names,
 * which is empty afterwards. Not allowed with in_time. */
void stacks_rename(struct stacks *stacks, struct intern *names, const uint32_t *frame);

/* Exchanges the two columns. Both exist afterwards. */
void stacks_swap(struct stacks *stacks);

void stacks_free(struct stacks *stacks);

/* Makes space for more nodes; stacks_append calls it. */
void stacks_grow(struct stacks *stacks);

/* Appends a node without a lookup and returns it. With in_time the node may be a duplicate; otherwise the caller
 * ensures that parent has no callee with that frame. */
static inline uint32_t stacks_append(struct stacks *stacks, uint32_t parent, uint32_t frame)
{
	uint32_t id;

	if (unlikely(stacks->n >= stacks->cap))
		stacks_grow(stacks);
	id = stacks->n++; /* the element is uninitialized until here, in all arrays */
	stacks->node[id] = (struct stacks_node){ parent, frame };
	stacks->self[0][id] = 0;
	if (stacks->self[1])
		stacks->self[1][id] = 0;
	if (unlikely(stacks->in_time))
		stacks->before[id] = stacks->self[0][parent];
	return id;
}

#endif
