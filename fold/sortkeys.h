/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sortkeys.h - keys of --sort: the columns of the table of --top, and the order of its rows.
 *
 * The words are those of perf report --sort, where it has them: comm, pid, tid, dso, sym, cgroup. Each distinct
 * combination of the values of all columns is one row.
 */
#ifndef PJ_SORTKEYS_H
#define PJ_SORTKEYS_H

#include "common/filter/out.h"

/* Order of rows, and of siblings in a tree. SORT_DEFAULT: by self weight in a table, by total weight in a tree. */
enum sortkeys_order { SORT_DEFAULT, SORT_BY_SELF, SORT_BY_TOTAL, SORT_BY_NAME };

/* Columns, the outermost frame first. */
enum sortkeys_column {
	COLUMN_GROUP,  /* first frame of --by: cgroup, container or pod */
	COLUMN_COMM,   /* frame with the command name */
	COLUMN_THREAD, /* frame of --root=both: name of the thread in brackets */
	COLUMN_DSO,    /* file name of the DSO of a function */
	COLUMN_SYM,    /* function */
	COLUMN_COUNT
};

/* Kinds of words of --sort that change more than the columns. */
enum sortkeys_label { LABEL_NONE, LABEL_PID, LABEL_TID, LABEL_CGROUP, LABEL_CONTAINER, LABEL_POD };

/* A word of --sort: it adds a column, or sets the order. */
struct sortkeys_word {
	const char *name;
	bool is_order;
	enum sortkeys_order order;
	enum sortkeys_column column;
	enum sortkeys_label label;
};

struct sortkeys {
	enum sortkeys_order order;
	/* Columns in the order of the command line, each at most once; has: by column, true if it is one of them. */
	enum sortkeys_column column[COLUMN_COUNT];
	unsigned ncolumns;
	bool has[COLUMN_COUNT];
};

/* Returns the word at the start of *list, which is separated by ',', adds its column or order to *keys, and cuts it off
 * *list. Dies with a usage message if there is no such word; `option` is the name of the option in the message. */
const struct sortkeys_word *sortkeys_take(struct sortkeys *keys, const char **list, const char *option);

/* Writes all words, one a line. */
void sortkeys_list(struct out *out);

/* True if a column is of a process or thread, not of a function. */
bool sortkeys_of_threads(const struct sortkeys *keys);

#endif
