/* SPDX-License-Identifier: Apache-2.0 */
/*
 * maps.h - the mappings of an address space, as a map from addresses to DSOs.
 *
 * A new mapping covers older ones; their parts before and after it stay. A copy takes constant time: copies share equal
 * nodes, and a change copies only the nodes on the path to it (a treap with reference counts). So the cost of a hundred
 * thousand mappings in any order, or of as many children of a process that has them, is linear in the number of their
 * records.
 */
#ifndef PJ_MAPS_H
#define PJ_MAPS_H

#include "common/base.h"

struct map {
	/* Half-open range of instruction pointers. */
	uint64_t start, end;
	/* The address in the DSO is ip + add. */
	uint64_t add;
	/* Index in addrspace.dso. */
	uint32_t dso;
	/* The range may be executed. */
	bool code;
};

/* Zero is empty. */
struct maps {
	struct maps_node *root;
};

/* Adds a mapping; start < end. dso 0 removes the range instead. */
void maps_insert(struct maps *maps, struct map new);

/* Returns the mapping that contains ip, or NULL. The result is valid until the next change. */
const struct map *maps_find(const struct maps *maps, uint64_t ip);

/* Returns a copy; later changes of one do not affect the other. */
struct maps maps_copy(const struct maps *maps);

static inline bool maps_empty(const struct maps *maps)
{
	return !maps->root;
}

/* Drops the references of *maps, which becomes empty. */
void maps_free(struct maps *maps);

#endif
