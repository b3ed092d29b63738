/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chains.h - reference-counted set of the callchains of threads that are off the CPU.
 *
 * Equal callchains share one entry. Thousands of threads sleep in a few functions, so the set is small. A chain without
 * references stays for the next thread that blocks there; when such chains exceed CHAINS_UNUSED bytes, the next
 * addition frees them all. No chain is added beyond CHAINS_MAX bytes.
 *
 * Chains of stacks that were read are much longer than those of the kernel, and their length is up to the process. They
 * have an owner, a hash of its tenant, and limits of their own: so they never take the space of the kernel's chains,
 * without which a sample is lost, and one tenant does not take that of all others.
 */
#ifndef PJ_CHAINS_H
#define PJ_CHAINS_H

#include "common/base.h"

#define CHAINS_MAX ((size_t)16 << 20) /* maximum bytes of all chains */
#define CHAINS_UNUSED ((size_t)512 << 10)
#define CHAINS_READ ((size_t)8 << 20)  /* the same of those with an owner */
#define CHAINS_OWNER ((size_t)2 << 20) /* the same of those of one owner */
enum { CHAINS_OWNERS = 256 };          /* owners are below this; 0: none */

struct chain {
	struct chain *next;
	uint64_t hash;
	uint32_t references, n;
	uint32_t owner;
	uint64_t ips[];
};

/* Set of chains. The zero value is empty. */
struct chains {
	struct chain **bucket;
	/* n: number of chains; bytes: bytes of all chains; unused: bytes of those without references */
	size_t nbuckets, n, bytes, unused;
	/* read: bytes of chains with an owner; owned: of each owner */
	size_t read, owned[CHAINS_OWNERS];
};

/*
 * Returns the chain with these n addresses, copied from ips if it is new, with one reference more. The caller gives the
 * reference back with chains_put. A new chain belongs to `owner`. Returns NULL if the chain would exceed a limit.
 */
struct chain *chains_get(struct chains *chains, const uint64_t *ips, uint32_t n, uint32_t owner);

/* Drops one reference. Does nothing if chain is NULL. */
void chains_put(struct chains *chains, struct chain *chain);

/* Frees all chains, even those with references, and makes *chains the empty set. */
void chains_free(struct chains *chains);

#endif
