/* SPDX-License-Identifier: Apache-2.0 */
#include "common/formats/pjrows.h"

bool pjrows_head(struct pjrows *rows, void *head, size_t n)
{
	if (rows->rest.n < n) {
		rows->cut = true;
		return false;
	}
	memcpy(head, rows->rest.p, n);
	rows->rest = str_from(rows->rest, n);
	return true;
}

bool pjrows_next(struct pjrows *rows, void *row, size_t n, size_t size_at, struct str *name)
{
	uint32_t size;

	if (rows->cut || rows->rest.n == 0 || !pjrows_head(rows, row, n))
		return false;
	memcpy(&size, (const char *)row + size_at, sizeof(size));
	if (size > rows->rest.n) {
		rows->cut = true;
		return false;
	}
	*name = str_head(rows->rest, size);
	rows->rest = str_from(rows->rest, size);
	return true;
}
