/* SPDX-License-Identifier: Apache-2.0 */
/* toptable.h - the table of --top: functions, DSOs, processes and threads with their self and total weights. */
#ifndef PJ_TOPTABLE_H
#define PJ_TOPTABLE_H

#include "common/filter/out.h"
#include "common/stacks.h"
#include "fold/sortkeys.h"

struct toptable_options {
	/* Columns and order of rows. Without columns, each frame has a row, the frame of a process included. */
	const struct sortkeys *keys;
	/* Maximum number of rows; further rows are not written. */
	uint64_t rows;
	/* Each member is true if the stacks have this kind of frame outside of their functions. by: group of --by.
	 * comm: command name. thread: thread, whose frame may follow the frame of its JVM group (jvmthreads.h). */
	bool by, comm, thread;
	/* True if the weights are ns, false if they have no unit. */
	bool ns;
	/* Heading of the column COLUMN_GROUP. */
	const char *group;
};

/*
 * Writes the first options->rows rows: self and total weight, as numbers and percentages, then the columns. A stack
 * adds its weight to the total of a row once, however many frames of the stack belong to the row. Frames that differ
 * only in the kind suffix (_[j], _[i]) share one row, which shows the suffix with the largest self weight. Frames must
 * end with their DSO (names.h) if a column other than COLUMN_SYM is given and the input has DSOs.
 */
void toptable_write(struct out *out, const struct stacks *stacks, const struct toptable_options *options);

#endif
