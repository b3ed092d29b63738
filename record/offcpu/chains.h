/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chains.h - reference-counted set of the callchains of threads that are off the CPU.
 *
 * Equal callchains share one entry. Thousands of threads sleep in a few functions, so the set is small. A chain without
 * references remains in the set for the next thread that blocks there. When chains without references exceed
 * CHAINS_UNUSED bytes, the next addition frees all of them. No chain is added if all chains would then exceed
 * CHAINS_MAX bytes.
 *
 * The kernel's callchains have no owner. Callchains that pj unwinds from copies of stacks are much longer, and the
 * process determines their length. They have an owner, a hash of the tenant, and limits of their own. So callchains
 * with an owner never use up the space of the kernel's callchains, without which a sample is lost. And one tenant does
 * not use up the space of other tenants.
 */
#ifndef PJ_CHAINS_H
#define PJ_CHAINS_H

#include "common/base.h"

/* CHAINS_MAX: limit for the bytes of all chains; a chain that would exceed it is not added. CHAINS_UNUSED: maximum
 * number of bytes of chains without references; if they exceed it, the next addition frees all of them. */
#define CHAINS_MAX ((size_t)16 << 20)
#define CHAINS_UNUSED ((size_t)512 << 10)
/* limit for the bytes of all chains with an owner; a chain with an owner that would exceed it is not added */
#define CHAINS_READ ((size_t)8 << 20)
/* limit for the bytes of the chains of one owner; a chain of this owner that would exceed it is not added */
#define CHAINS_OWNER ((size_t)2 << 20)
enum { CHAINS_OWNERS = 256 }; /* owners are numbers from 1 to 255; 0: the chain has no owner */

/* A callchain: n addresses ips[], leaf first, with context markers. owner: hash of its tenant; 0: the kernel's
 * callchain. */
struct chain {
	struct chain *next;
	uint64_t hash;
	uint32_t references, n;
	uint32_t owner;
	uint64_t ips[];
};

/* Set of chains. A zeroed object is valid and empty. */
struct chains {
	struct chain **bucket;
	/* n: number of chains. bytes: bytes of all chains. unused: bytes of the chains without references. */
	size_t nbuckets, n, bytes, unused;
	/* read: bytes of all chains with an owner. owned: bytes of the chains of each owner; index: owner. */
	size_t read, owned[CHAINS_OWNERS];
};

/*
 * Returns the chain with the n addresses of ips, and adds one reference to it. A new chain copies ips and belongs to
 * `owner` (0: to none). Returns NULL if a new chain would exceed a limit of bytes. The caller drops the reference with
 * chains_put.
 */
struct chain *chains_get(struct chains *chains, const uint64_t *ips, uint32_t n, uint32_t owner);

/* Drops one reference. Does nothing if chain is NULL. */
void chains_put(struct chains *chains, struct chain *chain);

/* Frees all chains, even those with references, and makes *chains the empty set. */
void chains_free(struct chains *chains);

#endif
