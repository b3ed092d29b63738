/* SPDX-License-Identifier: Apache-2.0 */
#include "diff/table.h"

#include "common/arena.h"
#include "common/visible.h"

#include <math.h>
#include <stdlib.h>

/* ---- correction for many tests ----------------------------------------------------------------------------------- */

static int double_cmp(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double table_threshold(double *p, size_t n, double q)
{
	if (n)
		qsort(p, n, sizeof(*p), double_cmp);
	for (size_t i = n; i-- > 0;)
		if (p[i] <= q * (double)(i + 1) / (double)n)
			return p[i];
	return -1;
}

/* Returns the two-sided p-value of z >= 0: the probability that noise alone gives a value at least as far from 0. */
static double two_sided(double z)
{
	return erfc(z / sqrt(2));
}

/* Returns true if a function can be significant at all, that is, if it would be with all of its weight on one side.
 * dispersion: that of the function; 0: rule->dispersion. */
static bool can_pass(const struct sig_rule *rule, const struct sig_function *function, double dispersion)
{
	uint64_t all = function->total[0] + function->total[1];
	struct sig_change gone, new;

	/* weight of the one side: the function's weight on both sides, but at most the total of that side */
	gone = sig_compare(rule, all < rule->sum[0] ? all : rule->sum[0], 0, dispersion);
	new = sig_compare(rule, 0, all < rule->sum[1] ? all : rule->sum[1], dispersion);
	return gone.why == SIG_CHANGED || new.why == SIG_CHANGED;
}

/* Applies the procedure of Benjamini and Hochberg to the functions that can be significant at all: those that pass a
 * single test but not the procedure become noise. Sets table->tested to the number of functions in the procedure. */
static void table_correct(struct table *table, const struct sig_rule *rule, const float *dispersion)
{
	double *p = mem_alloc(sizeof(*p), table->n), threshold;
	size_t n = 0;

	for (uint32_t i = 0; i < table->n; i++) {
		const struct table_row *row = &table->row[i];

		if (can_pass(rule, &row->f, dispersion ? (double)dispersion[row->frame] : 0))
			p[n++] = two_sided((double)row->f.change.z);
	}
	table->tested = (uint32_t)n;
	threshold = table_threshold(p, n, two_sided(rule->z));
	for (uint32_t i = 0; i < table->n; i++) {
		struct sig_change *change = &table->row[i].f.change;

		if (change->why >= SIG_MOVED && two_sided((double)change->z) > threshold) {
			change->why = SIG_NOISE;
			change->level = 0;
		}
	}
	free(p);
}

/* ---- order of the rows ------------------------------------------------------------------------------------------- */

/* Returns the absolute change in hundredths of a percentage point, rounded as the table prints it. */
static long table_shown(const struct table_row *row)
{
	return lround(100 * fabs((double)row->f.change.points));
}

/* Returns the size of the change of a row's self weight, in counts. */
static uint64_t own_count(const struct table_row *row)
{
	const uint64_t *self = row->f.self;

	return self[0] > self[1] ? self[0] - self[1] : self[1] - self[0];
}

/* Compares rows by their position in the table. A changed function changes the total weight of its callers by the same
 * points. So among rows of equal points, the largest change of self weight, the cause, comes first: by shares if these
 * are compared, then by counts. */
static int table_row_cmp(const void *a, const void *b)
{
	const struct table_row *row = a, *y = b;
	int group_x = row->f.change.why >= SIG_MOVED ? (int)row->f.change.why : 0;
	int group_y = y->f.change.why >= SIG_MOVED ? (int)y->f.change.why : 0;
	long points_x = table_shown(row), points_y = table_shown(y);

	if (group_x != group_y)
		return group_y - group_x;
	if (points_x != points_y)
		return points_x < points_y ? 1 : -1;
	if (row->own < y->own || row->own > y->own)
		return row->own < y->own ? 1 : -1;
	if (own_count(row) != own_count(y))
		return own_count(row) < own_count(y) ? 1 : -1;
	return (row->rank > y->rank) - (row->rank < y->rank);
}

static struct table_row table_row_of(const struct sig_rule *rule, uint32_t frame, uint32_t rank,
				     const struct sig_function *function)
{
	double own = fabs(sig_difference(rule, function->self[0], function->self[1]));

	/* equal changes of shares may differ in the last bits */
	return (struct table_row){ frame, rank, *function, rule->shares ? round(1e6 * own) : own };
}

void table_make(struct table *table, const struct sig_rule *rule, const struct stacks *stacks, const float *dispersion,
		bool assess)
{
	struct sig_function *function = sig_functions(rule, stacks, dispersion);
	uint32_t *rank = intern_ranks(&stacks->frames);

	*table = (struct table){ .row = mem_alloc(sizeof(*table->row), (size_t)stacks->frames.n + 1) };
	for (uint32_t id = 1; id <= stacks->frames.n; id++)
		if (function[id].total[0] || function[id].total[1])
			table->row[table->n++] = table_row_of(rule, id, rank[id], &function[id]);
	free(function);
	for (uint32_t i = 0; i < table->n && !assess; i++) {
		table->row[i].f.change.why = SIG_NOISE;
		table->row[i].f.change.level = 0;
	}
	if (assess && rule->counted && rule->z > 0)
		table_correct(table, rule, dispersion);
	for (uint32_t i = 0; i < table->n; i++) {
		table->changed += table->row[i].f.change.why == SIG_CHANGED;
		table->moved += table->row[i].f.change.why == SIG_MOVED;
	}
	qsort(table->row, table->n, sizeof(*table->row), table_row_cmp);
	free(rank);
}

void table_free(struct table *table)
{
	free(table->row);
}

/* ---- printing the table ------------------------------------------------------------------------------------------ */

/* Returns `weight` in percent: in a comparison of shares, of the total of its side; in a comparison of counts, of the
 * larger total of both sides. */
static double table_percent(const struct sig_rule *rule, unsigned side, uint64_t weight)
{
	uint64_t larger = rule->sum[0] > rule->sum[1] ? rule->sum[0] : rule->sum[1],
		 complete = rule->shares && rule->sum[0] && rule->sum[1] ? rule->sum[side] : larger;

	return complete ? 100.0 * (double)weight / (double)complete : 0;
}

static const char *table_mark(const struct sig_function *function)
{
	if (function->change.why == SIG_MOVED)
		return "moved";
	if (!function->total[0])
		return "new";
	return function->total[1] ? "-" : "gone";
}

/* Returns the percentage after divided by the percentage before, of the weights total[1] and total[0]; infinity if the
 * percentage before is 0. */
static double table_ratio(const struct sig_rule *rule, const uint64_t total[2])
{
	double before = table_percent(rule, 0, total[0]), after = table_percent(rule, 1, total[1]);

	return before > 0 ? after / before : HUGE_VAL;
}

static void table_put_row(struct out *out, const struct table_row *row, const struct sig_rule *rule,
			  const struct stacks *stacks)
{
	const struct sig_function *function = &row->f;
	double self[2] = { table_percent(rule, 0, function->self[0]), table_percent(rule, 1, function->self[1]) };

	out_printf(out, "%8.2f %8.2f %+8.2f ", table_percent(rule, 0, function->total[0]),
		   table_percent(rule, 1, function->total[1]), (double)function->change.points);
	if (function->total[0])
		out_printf(out, "%7.2f ", table_ratio(rule, function->total));
	else
		out_text(out, "      - ");
	if (rule->counted && rule->z > 0)
		out_printf(out, "%7.1f ",
			   function->change.less ? -(double)function->change.z : (double)function->change.z);
	else
		out_text(out, "      - ");
	out_printf(out, "%8.2f %8.2f %+8.2f  %-5s  ", self[0], self[1], self[1] - self[0], table_mark(function));
	out_visible(out, intern_str(&stacks->frames, row->frame));
	out_char(out, '\n');
}

static void put_tsv(struct out *out, const struct table_row *row, const struct sig_rule *rule,
		    const struct stacks *stacks)
{
	const struct sig_function *function = &row->f;
	double self[2] = { table_percent(rule, 0, function->self[0]), table_percent(rule, 1, function->self[1]) };

	out_printf(out, "%llu\t%llu\t%.4f\t%.4f\t%.4f\t", (unsigned long long)function->total[0],
		   (unsigned long long)function->total[1], table_percent(rule, 0, function->total[0]),
		   table_percent(rule, 1, function->total[1]), (double)function->change.points);
	out_printf(out, "%.4f\t%.2f\t%llu\t%llu\t%.4f\t%s\t%s\t", table_ratio(rule, function->total),
		   function->change.less ? -(double)function->change.z : (double)function->change.z,
		   (unsigned long long)function->self[0], (unsigned long long)function->self[1], self[1] - self[0],
		   table_mark(function), function->change.why == SIG_CHANGED ? "yes" : "no");
	out_visible(out, intern_str(&stacks->frames, row->frame));
	out_char(out, '\n');
}

void table_write(struct out *out, const struct table *table, const struct table_style *style,
		 const struct sig_rule *rule, const struct stacks *stacks)
{
	uint64_t shown = style->all ? table->n : table->changed + table->moved;

	if (style->rows && style->rows < shown)
		shown = style->rows;
	if (style->tsv)
		out_text(
			out,
			"before\tafter\tbefore_pct\tafter_pct\tpoints\tratio\tz\tself_before\tself_after\tself_points\tmark\tchanged\tname\n");
	else
		out_printf(out, "%8s %8s %8s %7s %7s %8s %8s %8s  %-5s  %s\n", "before%", "after%", "points", "ratio",
			   "z", "self b%", "self a%", "points", "mark", "function");
	for (uint64_t i = 0; i < shown; i++)
		(style->tsv ? put_tsv : table_put_row)(out, &table->row[i], rule, stacks);
}
