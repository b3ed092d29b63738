/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.h - the table of functions in the order of their change, with tests that are corrected for the number of
 * functions.
 *
 * Of a thousand functions tested at |z| >= 2, fifty pass by chance. So a function here must also pass Benjamini and
 * Hochberg's procedure over all that are large enough to be able to pass.
 */
#ifndef PJ_TABLE_H
#define PJ_TABLE_H

#include "common/filter/out.h"
#include "common/significance.h"

struct table_row {
	uint32_t frame;
	uint32_t rank; /* rank of the function's name among all names, in byte order */
	/* weights and test result; change.why is SIG_CHANGED or SIG_MOVED only if the change also passed the procedure
	 * of Benjamini and Hochberg */
	struct sig_function f;
};

struct table {
	/* first the changed functions, then the moved ones, then the rest; each by |points|, change of self weight,
	 * name */
	struct table_row *row;
	uint32_t n; /* number of functions with weight */
	uint32_t changed, moved, tested;
};

/* Makes the table. Without `assess`, no function counts as changed or moved. dispersion has a number for each frame, or
 * is NULL. */
void table_make(struct table *table, const struct sig_rule *rule, const struct stacks *stacks, const float *dispersion,
		bool assess);

struct table_style {
	uint64_t rows; /* limit for the number of rows; 0: all */
	bool all;      /* also print functions without change */
	bool tsv;
};

void table_write(struct out *out, const struct table *table, const struct table_style *style,
		 const struct sig_rule *rule, const struct stacks *stacks);

void table_free(struct table *table);

/* Returns the largest significant p-value of n two-sided tests at level q (Benjamini and Hochberg), or -1 if none is
 * significant. Sorts p. */
double table_threshold(double *p, size_t n, double q);

#endif
