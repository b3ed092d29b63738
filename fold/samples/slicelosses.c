/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/samples/slicelosses.h"

#include <stdlib.h>

void slices_lose(struct slices_lost *lost, struct str name, uint64_t n)
{
	uint32_t id = intern(&lost->names, name);

	if (id >= lost->cap) {
		size_t cap = 2 * (size_t)id + 16;

		lost->n = mem_grow(lost->n, sizeof(*lost->n), cap);
		memset(lost->n + lost->cap, 0, (cap - lost->cap) * sizeof(*lost->n));
		lost->cap = cap;
	}
	lost->n[id] += n;
	lost->sum += n;
}

void slices_lost_add(struct slices_lost *lost, const struct slices_lost *more)
{
	for (uint32_t id = 1; id <= more->names.n; id++)
		slices_lose(lost, intern_str(&more->names, id), more->n[id]);
}

void slices_lost_free(struct slices_lost *lost)
{
	intern_free(&lost->names);
	free(lost->n);
	*lost = (struct slices_lost){ 0 };
}
