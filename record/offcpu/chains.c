/* SPDX-License-Identifier: Apache-2.0 */
#include "record/offcpu/chains.h"

#include "common/arena.h"
#include "common/hash.h"

#include <stdlib.h>

static size_t chains_size_of(uint32_t n)
{
	return sizeof(struct chain) + n * sizeof(uint64_t);
}

static struct chain **chains_find(struct chains *chains, uint64_t hash, const uint64_t *ips, uint32_t n)
{
	struct chain **at = chains->bucket + (hash & (chains->nbuckets - 1));

	while (*at && ((*at)->hash != hash || (*at)->n != n || (n && memcmp((*at)->ips, ips, n * sizeof(*ips)) != 0)))
		at = &(*at)->next;
	return at;
}

static void chains_widen(struct chains *chains)
{
	struct chains wide = *chains;

	wide.nbuckets = chains->nbuckets ? 2 * chains->nbuckets : 64;
	wide.bucket = mem_alloc(sizeof(*wide.bucket), wide.nbuckets);
	for (size_t i = 0; i < chains->nbuckets; i++)
		for (struct chain *one = chains->bucket[i], *next; one; one = next) {
			struct chain **to = wide.bucket + (one->hash & (wide.nbuckets - 1));

			next = one->next;
			one->next = *to;
			*to = one;
		}
	free(chains->bucket);
	*chains = wide;
}

/* Adds the bytes of a chain to the bytes of the set and of the chain's owner if add is true; otherwise subtracts
 * them. */
static void chains_count(struct chains *chains, const struct chain *one, bool add)
{
	size_t size = chains_size_of(one->n), more = add ? size : (size_t)0 - size;

	chains->bytes += more;
	if (one->owner) {
		chains->read += more;
		chains->owned[one->owner % CHAINS_OWNERS] += more;
	}
}

static bool has_space(const struct chains *chains, size_t size, uint32_t owner)
{
	return chains->bytes + size <= CHAINS_MAX &&
	       (!owner ||
		(chains->read + size <= CHAINS_READ && chains->owned[owner % CHAINS_OWNERS] + size <= CHAINS_OWNER));
}

/* Frees all chains without references. */
static void chains_sweep(struct chains *chains)
{
	for (size_t i = 0; i < chains->nbuckets; i++)
		for (struct chain **at = chains->bucket + i; *at;) {
			struct chain *one = *at;

			if (one->references) {
				at = &one->next;
				continue;
			}
			*at = one->next;
			chains_count(chains, one, false);
			chains->n--;
			free(one);
		}
	chains->unused = 0;
}

struct chain *chains_get(struct chains *chains, const uint64_t *ips, uint32_t n, uint32_t owner)
{
	uint64_t hash = hash_bytes(ips, n * sizeof(*ips));
	size_t size = chains_size_of(n);
	struct chain **at, *one;

	if (chains->n >= chains->nbuckets)
		chains_widen(chains);
	at = chains_find(chains, hash, ips, n);
	if (*at) {
		if ((*at)->references++ == 0)
			chains->unused -= size;
		return *at;
	}
	/* sweeps only if the chains without references have so many bytes that a pass over all chains is worth its
	 * cost */
	if (chains->unused > CHAINS_UNUSED) {
		chains_sweep(chains);
		at = chains_find(chains, hash, ips, n);
	}
	if (!has_space(chains, size, owner))
		return NULL;
	one = mem_alloc(size, 1);
	one->hash = hash;
	one->references = 1;
	one->n = n;
	one->owner = owner;
	if (n)
		memcpy(one->ips, ips, n * sizeof(*ips));
	*at = one;
	chains_count(chains, one, true);
	chains->n++;
	return one;
}

void chains_put(struct chains *chains, struct chain *chain)
{
	if (chain && --chain->references == 0)
		chains->unused += chains_size_of(chain->n);
}

void chains_free(struct chains *chains)
{
	for (size_t i = 0; i < chains->nbuckets; i++)
		for (struct chain *one = chains->bucket[i], *next; one; one = next) {
			next = one->next;
			free(one);
		}
	free(chains->bucket);
	*chains = (struct chains){ 0 };
}
