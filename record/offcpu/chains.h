/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chains.h - callchains that wait: equal ones are kept once, for as long as somebody refers to them.
 *
 * Thousands of threads sleep in a few places, so what waits is small; what nobody refers to any more is kept for the
 * next one who stops there, up to CHAINS_UNUSED. Beyond CHAINS_MOST nothing is added.
 */
#ifndef PJ_CHAINS_H
#define PJ_CHAINS_H

#include "common/base.h"

#define CHAINS_MAX ((size_t)16 << 20) /* bytes */
#define CHAINS_UNUSED ((size_t)512 << 10)

struct chain {
	struct chain *next;
	uint64_t hash;
	uint32_t references, n;
	uint64_t ips[];
};

/* The zero value is empty. */
struct chains {
	struct chain **bucket;
	size_t nbuckets, n, bytes, unused; /* unused: bytes without references */
};

struct chain *chains_get(struct chains *chains, const uint64_t *ips,
			 uint32_t n);                        /* one reference more; NULL: no room */
void chains_put(struct chains *chains, struct chain *chain); /* one reference less; NULL is none */
void chains_free(struct chains *chains);

#endif
