/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.h - makes and prints the table of functions, sorted by their change; corrects the tests of their changes for
 * the number of functions.
 *
 * Of a thousand unchanged functions that are tested at |z| >= 2, about 46 pass by chance. So a function must also pass
 * the procedure of Benjamini and Hochberg, over all functions that have enough weight to pass a single test.
 */
#ifndef PJ_TABLE_H
#define PJ_TABLE_H

#include "common/filter/out.h"
#include "common/significance.h"

struct table_row {
	uint32_t frame;
	uint32_t rank; /* rank of the function's name among all names in byte order */
	/* weights and test result; change.why is SIG_CHANGED or SIG_MOVED only if the change passed the procedure of
	 * Benjamini and Hochberg, too */
	struct sig_function f;
	double own; /* size of the change of the self weight: millionths of the total if shares are compared, else
		       counts */
};

struct table {
	/* changed functions, then moved ones, then the rest; in each group, the largest |points| first, then the
	 * largest change of self weight, then by name */
	struct table_row *row;
	uint32_t n; /* number of rows: functions with weight */
	/* changed, moved: number of rows with SIG_CHANGED and SIG_MOVED; tested: number of functions in the procedure
	 * of Benjamini and Hochberg */
	uint32_t changed, moved, tested;
};

/* Makes *table, which the caller frees with table_free. If assess is false, all functions are marked as noise.
 * dispersion: by frame id; NULL: rule->dispersion holds for all frames. */
void table_make(struct table *table, const struct sig_rule *rule, const struct stacks *stacks, const float *dispersion,
		bool assess);

struct table_style {
	uint64_t rows; /* limit for the number of rows; 0: all */
	bool all;      /* true: functions without change are printed, too */
	bool tsv;
};

void table_write(struct out *out, const struct table *table, const struct table_style *style,
		 const struct sig_rule *rule, const struct stacks *stacks);

void table_free(struct table *table);

/* Returns the largest of n p-values that is significant by the procedure of Benjamini and Hochberg, at false discovery
 * rate q; -1 if none is significant. Sorts p. */
double table_threshold(double *p, size_t n, double q);

#endif
