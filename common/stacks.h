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
	bool in_time; /* siblings are in order of time (stacks_moments); to be set before the first call */
	struct intern frames;
	uint32_t n; /* nodes 0..n-1 exist; 0 before the first call */
	uint32_t cap;
	struct stacks_node *node;
	uint64_t *self[STACKS_COLUMNS]; /* by node; [1] is NULL until column 1 gets a weight */
	uint64_t sum[STACKS_COLUMNS];   /* of self */
	uint32_t *slot;                 /* a table of nodes, made when one is looked up first */
	uint32_t *hash; /* by node: of its path from the root, so that table slots are known before the nodes */
	uint32_t mask;
	uint32_t placed;  /* the table holds nodes 1..placed-1; the others follow when something is looked up */
	uint32_t sorted;  /* equal to n: in preorder, siblings ascend by the bytes of their frames, and no frame holds a
			     ';' */
	uint64_t *before; /* by node, in time only: self weight of its parent when the node was made */
	uint32_t last;    /* node, in time only: it got a weight last */
};

/*
 * In time: stacks follow each other as their weights are added. stacks_child finds only what is still open, that is on
 * the path of the last weight; all else is a new node. So equal siblings may repeat, and numbers are in preorder among
 * the nodes with weight. One column only.
 */

uint32_t stacks_frame(struct stacks *stacks, struct str name); /* same as intern(&stacks->frames, name) */

/* Returns the node of `frame` as a callee of `parent`; adds it if it does not exist. */
uint32_t stacks_child(struct stacks *stacks, uint32_t parent, uint32_t frame);

/* Returns the node of `frame` as a callee of `parent`, or 0. In order of time it finds none. */
uint32_t stacks_find(struct stacks *stacks, uint32_t parent, uint32_t frame);

/* Prefetches memory for calls of stacks_child with these frames, one after the other, from `node` on. */
void stacks_expect(const struct stacks *stacks, uint32_t node, const uint32_t *frame, size_t n);

/* Adds to the self weight of node. Returns false without a change if the sum of all weights of that column would exceed
 * 63 bits. So totals always fit. */
bool stacks_add(struct stacks *stacks, uint32_t node, unsigned column, uint64_t weight);

uint64_t stacks_sum(const struct stacks *stacks, unsigned column); /* of all self weights */

/* Returns the total weight of each node, with all nodes below it; n values, which the caller frees. */
uint64_t *stacks_totals(const struct stacks *stacks, unsigned column);

/* A walk over all nodes but the root, depth first, siblings by the bytes of their frames: equal trees give equal
 * sequences of (depth, frame bytes), independent of the order in which they were built. With in_time: in order of time.
 * Nothing may be added during a walk. */
struct stacks_walk {
	const struct stacks *s;
	uint32_t at;
	uint32_t *child, *next; /* lists by node; NULL: numbers are in order */
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
	     walk->at = walk->s->node[walk->at].parent) { /* back to the first caller that has more */
		if (walk->at == 0)
			return 0;
		to = walk->next[walk->at];
		if (to)
			break;
	}
	return walk->at = to;
}

/* Returns all nodes in the order of a walk; n-1 values, which the caller frees. */
uint32_t *stacks_order(const struct stacks *stacks);

/* An interval of time in one stack. */
struct stacks_moment {
	uint32_t node;
	uint64_t weight;
};

/* With in_time: returns all weights in their order, equal neighbours added up. Sets *n; the caller frees the result. */
struct stacks_moment *stacks_moments(const struct stacks *stacks, size_t *n);

/* Adds all of src to dst. Returns false on overflow, as stacks_add. */
bool stacks_merge(struct stacks *dst, const struct stacks *src);

/* As stacks_merge, with frame[f] of dst in place of frame f of src. */
bool stacks_merge_as(struct stacks *dst, const struct stacks *src, const uint32_t *frame);

/* Replaces frame f by frame[f] of `names` and merges nodes that become equal. Takes over *names, which becomes empty.
 * Not with in_time. */
void stacks_rename(struct stacks *stacks, struct intern *names, const uint32_t *frame);

/* Exchanges the two columns. Afterwards both exist. */
void stacks_swap(struct stacks *stacks);

void stacks_free(struct stacks *stacks);

void stacks_grow(struct stacks *stacks); /* makes space for more nodes; stacks_append calls it */

/* Appends a node without a lookup. With in_time duplicates are allowed; otherwise the caller ensures that the node does
 * not exist. */
static inline uint32_t stacks_append(struct stacks *stacks, uint32_t parent, uint32_t frame)
{
	uint32_t id;

	if (unlikely(stacks->n >= stacks->cap))
		stacks_grow(stacks);
	id = stacks->n++; /* memory beyond the last node is not written before */
	stacks->node[id] = (struct stacks_node){ parent, frame };
	stacks->self[0][id] = 0;
	if (stacks->self[1])
		stacks->self[1][id] = 0;
	if (unlikely(stacks->in_time))
		stacks->before[id] = stacks->self[0][parent];
	return id;
}

#endif
