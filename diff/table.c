/* SPDX-License-Identifier: Apache-2.0 */
#include "diff/table.h"

#include "common/arena.h"
#include "common/visible.h"

#include <math.h>
#include <stdlib.h>

/* ---- many tests ---------------------------------------------------------------------------------------------- */

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

/* The probability of a |z| of at least that. */
static double two_sided(double z)
{
	return erfc(z / sqrt(2));
}

/* Could a function of this weight pass at all, were it all on one side? */
static bool can_pass(const struct sig_rule *r, const struct sig_function *f, double dispersion)
{
	uint64_t all = f->total[0] + f->total[1];
	struct sig_change gone, new;

	/* rounded like that the side is never larger than its total */
	gone = sig_compare(r, all < r->sum[0] ? all : r->sum[0], 0, dispersion);
	new = sig_compare(r, 0, all < r->sum[1] ? all : r->sum[1], dispersion);
	return gone.why == SIG_CHANGED || new.why == SIG_CHANGED;
}

/* What passes alone but not among all becomes noise. */
static void table_correct(struct table *t, const struct sig_rule *r, const float *dispersion)
{
	double *p = mem_alloc(sizeof(*p), t->n), threshold;
	size_t n = 0;

	for (uint32_t i = 0; i < t->n; i++) {
		const struct table_row *row = &t->row[i];

		if (can_pass(r, &row->f, dispersion ? (double)dispersion[row->frame] : 0))
			p[n++] = two_sided((double)row->f.change.z);
	}
	t->tested = (uint32_t)n;
	threshold = table_threshold(p, n, two_sided(r->z));
	for (uint32_t i = 0; i < t->n; i++) {
		struct sig_change *c = &t->row[i].f.change;

		if (c->why >= SIG_MOVED && two_sided((double)c->z) > threshold) {
			c->why = SIG_NOISE;
			c->level = 0;
		}
	}
	free(p);
}

/* ---- rows ---------------------------------------------------------------------------------------------------- */

/* Points as they are printed. */
static long table_shown(const struct table_row *row)
{
	return lround(100 * fabs((double)row->f.change.points));
}

static uint64_t own_change(const struct table_row *row)
{
	const uint64_t *self = row->f.self;

	return self[0] > self[1] ? self[0] - self[1] : self[1] - self[0];
}

/* A function that changed takes its callers along, by as much: of these the one whose own code it is comes first. */
static int table_row_cmp(const void *a, const void *b)
{
	const struct table_row *x = a, *y = b;
	int group_x = x->f.change.why >= SIG_MOVED ? (int)x->f.change.why : 0;
	int group_y = y->f.change.why >= SIG_MOVED ? (int)y->f.change.why : 0;
	long points_x = table_shown(x), points_y = table_shown(y);
	uint64_t own_x = own_change(x), own_y = own_change(y);

	if (group_x != group_y)
		return group_y - group_x;
	if (points_x != points_y)
		return points_x < points_y ? 1 : -1;
	if (own_x != own_y)
		return own_x < own_y ? 1 : -1;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

void table_make(struct table *t, const struct sig_rule *r, const struct stacks *s, const float *dispersion, bool assess)
{
	struct sig_function *f = sig_functions(r, s, dispersion);
	uint32_t *rank = intern_ranks(&s->frames);

	*t = (struct table){ .row = mem_alloc(sizeof(*t->row), (size_t)s->frames.n + 1) };
	for (uint32_t id = 1; id <= s->frames.n; id++)
		if (f[id].total[0] || f[id].total[1])
			t->row[t->n++] = (struct table_row){ id, rank[id], f[id] };
	free(f);
	for (uint32_t i = 0; i < t->n && !assess; i++) {
		t->row[i].f.change.why = SIG_NOISE;
		t->row[i].f.change.level = 0;
	}
	if (assess && r->counted && r->z > 0)
		table_correct(t, r, dispersion);
	for (uint32_t i = 0; i < t->n; i++) {
		t->changed += t->row[i].f.change.why == SIG_CHANGED;
		t->moved += t->row[i].f.change.why == SIG_MOVED;
	}
	qsort(t->row, t->n, sizeof(*t->row), table_row_cmp);
	free(rank);
}

void table_free(struct table *t)
{
	free(t->row);
}

/* ---- text ---------------------------------------------------------------------------------------------------- */

/* Percent of the total that changes are measured by: that of the side, or with counts the larger one. */
static double table_percent(const struct sig_rule *r, unsigned side, uint64_t weight)
{
	uint64_t larger = r->sum[0] > r->sum[1] ? r->sum[0] : r->sum[1],
		 complete = r->shares && r->sum[0] && r->sum[1] ? r->sum[side] : larger;

	return complete ? 100.0 * (double)weight / (double)complete : 0;
}

static const char *table_mark(const struct sig_function *f)
{
	if (f->change.why == SIG_MOVED)
		return "moved";
	if (!f->total[0])
		return "new";
	return f->total[1] ? "-" : "gone";
}

/* After over before; infinite where nothing was. */
static double table_ratio(const struct sig_rule *r, const uint64_t total[2])
{
	double before = table_percent(r, 0, total[0]), after = table_percent(r, 1, total[1]);

	return before > 0 ? after / before : HUGE_VAL;
}

static void table_put_row(struct out *o, const struct table_row *row, const struct sig_rule *r, const struct stacks *s)
{
	const struct sig_function *f = &row->f;
	double self[2] = { table_percent(r, 0, f->self[0]), table_percent(r, 1, f->self[1]) };

	out_printf(o, "%8.2f %8.2f %+8.2f ", table_percent(r, 0, f->total[0]), table_percent(r, 1, f->total[1]),
		   (double)f->change.points);
	if (f->total[0])
		out_printf(o, "%7.2f ", table_ratio(r, f->total));
	else
		out_text(o, "      - ");
	if (r->counted && r->z > 0)
		out_printf(o, "%7.1f ", f->change.less ? -(double)f->change.z : (double)f->change.z);
	else
		out_text(o, "      - ");
	out_printf(o, "%8.2f %8.2f %+8.2f  %-5s  ", self[0], self[1], self[1] - self[0], table_mark(f));
	out_visible(o, intern_str(&s->frames, row->frame));
	out_char(o, '\n');
}

static void put_tsv(struct out *o, const struct table_row *row, const struct sig_rule *r, const struct stacks *s)
{
	const struct sig_function *f = &row->f;
	double self[2] = { table_percent(r, 0, f->self[0]), table_percent(r, 1, f->self[1]) };

	out_printf(o, "%llu\t%llu\t%.4f\t%.4f\t%.4f\t", (unsigned long long)f->total[0],
		   (unsigned long long)f->total[1], table_percent(r, 0, f->total[0]), table_percent(r, 1, f->total[1]),
		   (double)f->change.points);
	out_printf(o, "%.4f\t%.2f\t%llu\t%llu\t%.4f\t%s\t%s\t", table_ratio(r, f->total),
		   f->change.less ? -(double)f->change.z : (double)f->change.z, (unsigned long long)f->self[0],
		   (unsigned long long)f->self[1], self[1] - self[0], table_mark(f),
		   f->change.why == SIG_CHANGED ? "yes" : "no");
	out_visible(o, intern_str(&s->frames, row->frame));
	out_char(o, '\n');
}

void table_write(struct out *o, const struct table *t, const struct table_style *style, const struct sig_rule *r,
		 const struct stacks *s)
{
	uint64_t shown = style->all ? t->n : t->changed + t->moved;

	if (style->rows && style->rows < shown)
		shown = style->rows;
	if (style->tsv)
		out_text(
			o,
			"before\tafter\tbefore_pct\tafter_pct\tpoints\tratio\tz\tself_before\tself_after\tself_points\tmark\tchanged\tname\n");
	else
		out_printf(o, "%8s %8s %8s %7s %7s %8s %8s %8s  %-5s  %s\n", "before%", "after%", "points", "ratio",
			   "z", "self b%", "self a%", "points", "mark", "function");
	for (uint64_t i = 0; i < shown; i++)
		(style->tsv ? put_tsv : table_put_row)(o, &t->row[i], r, s);
}
