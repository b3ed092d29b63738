/* SPDX-License-Identifier: Apache-2.0 */
/*
 * namecounts.h - counts of events by the name of a process, for names with many of them, in bounded memory.
 *
 * The names are those of hostile processes, and there may be any number of them: if all rows are in use, a new name
 * takes that of the name with the least count. Counts are therefore lower bounds, and exact up to NAMECOUNTS names.
 */
#ifndef PJ_NAMECOUNTS_H
#define PJ_NAMECOUNTS_H

#include "record/processes/processes.h"

#define NAMECOUNTS 16 /* number of rows */

/* A zeroed object is valid and empty. */
struct namecounts {
	struct namecounts_row {
		char name[COMM_MAX];
		uint64_t n; /* 0: the row is free */
	} row[NAMECOUNTS];
};

/* Stacks that are not complete, by the name of the process. */
struct stacks_by_name {
	struct namecounts broken, unknown;
};

/* Adds one event of a process. */
void namecounts_add(struct namecounts *counts, const char name[COMM_MAX]);

#endif
