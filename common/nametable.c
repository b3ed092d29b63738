/* SPDX-License-Identifier: Apache-2.0 */
#include "common/nametable.h"

#include "common/arena.h"

#include <stdlib.h>

/* minimum of renewed_bytes in nametable_renew, in bytes: a table is renewed only if it has at least twice this size */
#define SMALL (256u << 10)

static uint32_t *number_of(struct nametable *nametable, uint32_t id)
{
	if (id >= nametable->cap) {
		nametable->cap = nametable->cap ? nametable->cap * 2 : 256;
		nametable->number = mem_grow(nametable->number, sizeof(*nametable->number), nametable->cap);
	}
	return &nametable->number[id];
}

uint32_t nametable_id(struct nametable *nametable, struct str name, bool *is_new)
{
	uint32_t known = nametable->names.n, id = intern(&nametable->names, name);

	*is_new = id > known;
	if (*is_new)
		*number_of(nametable, id) = nametable->next_number++;
	return id;
}

uint64_t nametable_bytes(const struct nametable *nametable)
{
	return nametable->names.bytes.total + (uint64_t)nametable->names.cap * sizeof(*nametable->names.str) +
	       (uint64_t)nametable->cap * sizeof(*nametable->number) +
	       (nametable->names.mask + 1ull) * sizeof(*nametable->names.slot);
}

void nametable_renew(struct nametable *nametable, uint32_t *used, size_t n)
{
	struct nametable new = { .next_number = nametable->next_number };

	if (nametable_bytes(nametable) < 2 * (nametable->renewed_bytes > SMALL ? nametable->renewed_bytes : SMALL))
		return;
	for (size_t i = 0; i < n; i++) {
		uint32_t old = used[i];

		used[i] = intern(&new.names, intern_str(&nametable->names, old));
		*number_of(&new, used[i]) = nametable->number[old];
	}
	nametable_free(nametable);
	*nametable = new;
	nametable->renewed_bytes = nametable_bytes(nametable);
}

void nametable_free(struct nametable *nametable)
{
	intern_free(&nametable->names);
	free(nametable->number);
	*nametable = (struct nametable){ 0 };
}
