/* SPDX-License-Identifier: Apache-2.0 */
/*
 * namecounts.h - counts events by process name, in bounded memory that prefers names with many events.
 *
 * Hostile processes may have any number of names. If all rows are in use, a new name replaces the name with the lowest
 * count, and starts at 1. So counts are lower bounds, and exact if there are at most NAMECOUNTS names.
 */
#ifndef PJ_NAMECOUNTS_H
#define PJ_NAMECOUNTS_H

#include "record/processes/processes.h"

#define NAMECOUNTS 16 /* number of rows, that is, of names with a count */

/* Counts by name. A zeroed object is valid and empty. */
struct namecounts {
	struct namecounts_row {
		char name[COMM_MAX];
		uint64_t n; /* number of events; 0: the row is free */
	} row[NAMECOUNTS];
};

/* Counts of incomplete stacks, by process name. no_stack, other_stack: broken stacks of these reasons (struct
 * pj_unwinding). broken: other broken stacks. unknown: stacks of unknown completeness. */
struct stacks_by_name {
	struct namecounts no_stack, other_stack, broken, unknown;
};

/* Adds one event of a process with this name to the name's count. */
void namecounts_add(struct namecounts *counts, const char name[COMM_MAX]);

#endif
