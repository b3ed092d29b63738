/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.h - functions in the order of their change, and which of them changed at all when many are looked at.
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
	uint32_t rank;         /* rank of the name among all names */
	struct sig_function f; /* why CHANGED or MOVED only where it passed */
};

struct table {
	struct table_row *row; /* changed, moved, then the rest; by |points|, then by name */
	uint32_t n;            /* number of functions with weight */
	uint32_t changed, moved, tested;
};

/* Makes the table. judge false: numbers without tests. dispersion: by frame, or NULL. */
void table_make(struct table *table, const struct sig_rule *rule, const struct stacks *stacks, const float *dispersion,
		bool assess);

struct table_style {
	uint64_t rows; /* 0: all */
	bool all;      /* also functions without change */
	bool tsv;
};

void table_write(struct out *out, const struct table *table, const struct table_style *style,
		 const struct sig_rule *rule, const struct stacks *stacks);

void table_free(struct table *table);

/* Returns the largest significant p of n two-sided tests at level q (Benjamini and Hochberg), or -1. Sorts p. */
double table_threshold(double *p, size_t n, double q);

#endif
