/* SPDX-License-Identifier: Apache-2.0 */
/* toptable.h - the table of --top: functions, DSOs, processes and threads with their self and total weights. */
#ifndef PJ_TOPTABLE_H
#define PJ_TOPTABLE_H

#include "common/filter/out.h"
#include "common/stacks.h"
#include "fold/sortkeys.h"

struct toptable_options {
	/* Columns and order; without columns, each frame is a row, also that of a process. */
	const struct sortkeys *keys;
	/* Maximum number of rows. */
	uint64_t rows;
	/* Frames outside of the functions of each stack: of --by, the command name, the thread. The frame of a thread
	 * may follow one of its JVM group (jvmthreads.h). */
	bool by, comm, thread;
	/* Heading of the column COLUMN_GROUP. */
	const char *group;
};

/*
 * Writes the first rows: self and total weight, as numbers and percentages, then the columns. In a total, a row counts
 * once for each stack, however many frames of the stack belong to it. Frames that differ only in the kind suffix
 * (_[j], _[i]) share one row, with the suffix of the largest self weight. Frames end with their DSO (names.h) if a
 * column other than COLUMN_SYM is given and the input has DSOs.
 */
void toptable_write(struct out *out, const struct stacks *stacks, const struct toptable_options *options);

#endif
