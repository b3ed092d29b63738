/* SPDX-License-Identifier: Apache-2.0 */
#include "record/processes/namecounts.h"

void namecounts_add(struct namecounts *counts, const char name[COMM_MAX])
{
	struct namecounts_row *least = counts->row;

	for (size_t i = 0; i < NAMECOUNTS; i++) {
		struct namecounts_row *row = counts->row + i;

		if (row->n && strncmp(row->name, name, COMM_MAX) == 0) {
			row->n++;
			return;
		}
		if (row->n < least->n)
			least = row;
	}
	*least = (struct namecounts_row){ .n = 1 };
	memcpy(least->name, name, strnlen(name, COMM_MAX - 1));
}
