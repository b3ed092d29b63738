/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.h - the table of functions in the order of their change, with tests that are corrected for the number of
 * functions.
 *
 * Of a thousand unchanged functions that are tested at |z| >= 2, fifty pass by chance. So a function must also pass the
 * procedure of Benjamini and Hochberg, over all functions with enough weight to pass at all.
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
};

struct table {
	/* changed functions, then moved ones, then the rest; each group by |points|, then by change of self weight,
	 * then by name */
	struct table_row *row;
	uint32_t n; /* number of rows: functions with weight */
	uint32_t changed, moved, tested;
};

/* Makes the table. If assess is false, all functions are marked as noise. dispersion has a value for each frame, or is
 * NULL. */
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

/* Returns the largest significant p-value of n two-sided tests at level q by the procedure of Benjamini and Hochberg;
 * -1 if no test is significant. Sorts p. */
double table_threshold(double *p, size_t n, double q);

#endif
