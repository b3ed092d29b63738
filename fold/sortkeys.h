/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sortkeys.h - keys of --sort: columns of the table of --top, and order of its rows.
 *
 * The keys have the names of perf report --sort where perf has them: comm, pid, tid, dso, sym, cgroup. Each distinct
 * combination of values of all columns is one row.
 */
#ifndef PJ_SORTKEYS_H
#define PJ_SORTKEYS_H

#include "common/filter/out.h"

/* Order of rows, and of siblings in a tree. SORT_DEFAULT: by self weight in a table, by total weight in a tree.
 * SORT_BY_SELF and SORT_BY_TOTAL: by descending weight. SORT_BY_NAME: by the bytes of the name. */
enum sortkeys_order { SORT_DEFAULT, SORT_BY_SELF, SORT_BY_TOTAL, SORT_BY_NAME };

/* Columns of the table, in the order of the frames of a stack, outermost first. */
enum sortkeys_column {
	COLUMN_GROUP,  /* group of --by: cgroup, container or pod */
	COLUMN_COMM,   /* command name */
	COLUMN_THREAD, /* name of the thread in brackets, as of --root=both */
	COLUMN_DSO,    /* file name of the DSO of a function */
	COLUMN_SYM,    /* name of the function */
	COLUMN_COUNT
};

/* Effect of a key of --sort beyond its column: LABEL_PID and LABEL_TID label processes as --pid and --tid do;
 * LABEL_CGROUP, LABEL_CONTAINER and LABEL_POD select the groups of --by; LABEL_NONE has no effect. */
enum sortkeys_label { LABEL_NONE, LABEL_PID, LABEL_TID, LABEL_CGROUP, LABEL_CONTAINER, LABEL_POD };

/* A key of --sort, which adds a column or sets the order. */
struct sortkeys_word {
	const char *name;
	bool is_order;
	enum sortkeys_order order;
	enum sortkeys_column column;
	enum sortkeys_label label;
};

struct sortkeys {
	enum sortkeys_order order;
	/* column: columns in command-line order, each at most once. has: by enum sortkeys_column, true if the column is
	 * present. */
	enum sortkeys_column column[COLUMN_COUNT];
	unsigned ncolumns;
	bool has[COLUMN_COUNT];
};

/* Cuts the first key off *list, in which ',' separates keys; adds the column or order of the key to *keys, and returns
 * the key. Dies with a usage message, which contains `option`, if the key is unknown. */
const struct sortkeys_word *sortkeys_take(struct sortkeys *keys, const char **list, const char *option);

/* Writes all keys of --sort, one a line. */
void sortkeys_list(struct out *out);

/* Returns true if a column shows a process, thread or group of processes; false if all columns show functions or
 * DSOs. */
bool sortkeys_of_threads(const struct sortkeys *keys);

#endif
