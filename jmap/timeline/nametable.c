/* SPDX-License-Identifier: Apache-2.0 */
#include "jmap/timeline/nametable.h"

#include "common/arena.h"

#include <stdlib.h>

#define SMALL (256u << 10) /* bytes that are never worth a renewal */

static uint32_t *number_of(struct nametable *t, uint32_t id)
{
	if (id >= t->cap) {
		t->cap = t->cap ? t->cap * 2 : 256;
		t->number = mem_grow(t->number, sizeof(*t->number), t->cap);
	}
	return &t->number[id];
}

uint32_t nametable_id(struct nametable *t, struct str name, bool *is_new)
{
	uint32_t known = t->names.n, id = intern(&t->names, name);

	*is_new = id > known;
	if (*is_new)
		*number_of(t, id) = t->next_number++;
	return id;
}

uint64_t nametable_bytes(const struct nametable *t)
{
	return t->names.bytes.total + (uint64_t)t->names.cap * sizeof(*t->names.str) +
	       (uint64_t)t->cap * sizeof(*t->number) + (t->names.mask + 1ull) * sizeof(*t->names.slot);
}

void nametable_renew(struct nametable *t, uint32_t *used, size_t n)
{
	struct nametable new = { .next_number = t->next_number };

	if (nametable_bytes(t) < 2 * (t->renewed_bytes > SMALL ? t->renewed_bytes : SMALL))
		return;
	for (size_t i = 0; i < n; i++) {
		uint32_t old = used[i];

		used[i] = intern(&new.names, intern_str(&t->names, old));
		*number_of(&new, used[i]) = t->number[old];
	}
	nametable_free(t);
	*t = new;
	t->renewed_bytes = nametable_bytes(t);
}

void nametable_free(struct nametable *t)
{
	intern_free(&t->names);
	free(t->number);
	*t = (struct nametable){ 0 };
}
