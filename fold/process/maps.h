/* SPDX-License-Identifier: Apache-2.0 */
/*
 * maps.h - what is mapped where in an address space.
 *
 * What is mapped later lies over what was there; what sticks out before and behind stays. A copy costs nothing: copies
 * share what is equal, and a change makes anew only the nodes on the way to it (a treap with counted references). So
 * neither a hundred thousand mappings, in any order, nor as many children of a process that has them cost more than the
 * records that tell of them.
 */
#ifndef PJ_MAPS_H
#define PJ_MAPS_H

#include "common/base.h"

struct map {
	uint64_t start, end;
	uint64_t add; /* address = ip + add */
	uint32_t dso;
};

struct maps {
	struct maps_node *root;
};

/* start < end. dso 0: a hole. */
void maps_insert(struct maps *maps, struct map new);

/* The map that holds ip, or NULL; valid until the next change. */
const struct map *maps_find(const struct maps *maps, uint64_t ip);

/* Both are independent of each other from now on. */
struct maps maps_copy(const struct maps *maps);

static inline bool maps_empty(const struct maps *maps)
{
	return !maps->root;
}

void maps_free(struct maps *maps);

#endif
