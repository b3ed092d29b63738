/* SPDX-License-Identifier: Apache-2.0 */
/*
 * maps.h - the mappings of an address space, as a map from addresses to DSOs.
 *
 * A new mapping replaces the parts of older mappings that it covers; the parts of older mappings before and after the
 * new one stay. A copy takes constant time: copies share equal nodes, and a change copies only the nodes on the path
 * from the root (a treap with reference counts). So a process with a hundred thousand mappings and a hundred thousand
 * children costs time in proportion to the number of records, times the depth of the tree.
 */
#ifndef PJ_MAPS_H
#define PJ_MAPS_H

#include "common/base.h"

struct map {
	/* The mapping contains the addresses from start to end - 1. */
	uint64_t start, end;
	/* Number to add to an instruction pointer to get the address in the DSO, modulo 2^64. */
	uint64_t add;
	/* Index of the DSO in addrspace.dso. */
	uint32_t dso;
	/* True if the mapping is executable. */
	bool code;
};

/* The mappings of one address space, sorted by start; a struct of zeros has none. */
struct maps {
	struct maps_node *root;
};

/* Adds a mapping (start < end), which replaces the parts of older mappings in its range. If its dso is 0, only removes
 * these parts. */
void maps_insert(struct maps *maps, struct map new);

/* Returns the mapping that contains ip, or NULL. The result is valid until the next change. */
const struct map *maps_find(const struct maps *maps, uint64_t ip);

/* Returns a copy of *maps in constant time; later changes of the original or of the copy do not affect the other. */
struct maps maps_copy(const struct maps *maps);

static inline bool maps_empty(const struct maps *maps)
{
	return !maps->root;
}

/* Frees the nodes of *maps that no copy shares, and makes *maps empty. */
void maps_free(struct maps *maps);

#endif
