/* SPDX-License-Identifier: Apache-2.0 */
#include "diff/verdict.h"

#include "common/arena.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned long long verdict_ull(uint64_t v)
{
	return v;
}

/* ---- too few samples ----------------------------------------------------------------------------------------- */

double verdict_needs(const struct sig_rule *r, double points)
{
	return r->counted && r->z > 0 && points > 0 ? ceil(r->z * r->z * 100 / points) : 0;
}

bool verdict_is_possible(const struct sig_rule *r, double points)
{
	uint64_t least = r->sum[0] < r->sum[1] ? r->sum[0] : r->sum[1];

	return (double)least >= verdict_needs(r, points);
}

/* ---- what was compared --------------------------------------------------------------------------------------- */

static void unit_of(const struct comparison *c, char *text, size_t cap)
{
	struct str unit = c->side[0].header.unit.n ? c->side[0].header.unit : c->side[1].header.unit;

	if (!unit.n)
		unit = STR("samples");
	snprintf(text, cap, "%.*s", (int)(unit.n < 30 ? unit.n : 30), unit.p);
}

static void describe_rule(const struct comparison *c, const struct table *t, struct text *line)
{
	const struct sig_rule *r = &c->rule;

	text_printf(line, "least change %g points and %g %%", r->points, 100 * r->relative);
	if (!r->counted)
		text_add(line, "; not counts of samples, so noise is not tested");
	else if (r->z <= 0)
		text_add(line, "; noise is not tested");
	else
		text_printf(line, ", |z| >= %g; dispersion %.2f, drift %.1f %%", r->z, r->dispersion, 100 * r->drift);
	if (t && r->counted && r->z > 0)
		text_printf(line, "; %u functions tested, corrected for their number (Benjamini-Hochberg)", t->tested);
}

void verdict_describe(const struct comparison *c, const struct table *t, void (*line)(void *to, const char *text),
		      void *to)
{
	const struct sig_rule *r = &c->rule;
	struct text text = { 0 };
	char unit[32];

	unit_of(c, unit, sizeof(unit));
	text_printf(&text, "before %llu, after %llu %s (%u and %u window%s): %s are compared", verdict_ull(r->sum[0]),
		    verdict_ull(r->sum[1]), unit, c->profile.windows[0], c->profile.windows[1],
		    c->profile.windows[0] == 1 && c->profile.windows[1] == 1 ? "" : "s",
		    r->shares ? "shares of the totals" : "counts");
	text_char(&text, 0);
	line(to, text.p);
	text.n = 0;
	describe_rule(c, t, &text);
	text_char(&text, 0);
	line(to, text.p);
	if (r->counted && r->z > 0 && r->drift <= 0 && c->profile.windows[0] <= 1 && c->profile.windows[1] <= 1)
		line(to, "one window a side: counting noise only; two runs of one program differ by more");
	if (!verdict_is_possible(r, r->points)) {
		text.n = 0;
		text_printf(
			&text,
			"too few samples to judge: %llu and %llu, but %.0f a side are needed to see a function go from 0 to %g %%",
			verdict_ull(r->sum[0]), verdict_ull(r->sum[1]), verdict_needs(r, r->points), r->points);
		text_char(&text, 0);
		line(to, text.p);
	} else if (t) {
		text.n = 0;
		text_printf(&text, "%u of %u functions changed, %u more only moved", t->changed, t->n, t->moved);
		text_char(&text, 0);
		line(to, text.p);
	}
	text_free(&text);
}

/* ---- --fail-over --------------------------------------------------------------------------------------------- */

static bool verdict_over(const struct request_limit *l, const struct sig_function *f, struct str name)
{
	return (double)f->change.points >= l->points && (!l->glob.n || str_glob(l->glob, folded_plain(name)));
}

static double verdict_percent(const struct sig_rule *r, unsigned side, uint64_t weight)
{
	uint64_t larger = r->sum[0] > r->sum[1] ? r->sum[0] : r->sum[1];
	uint64_t complete = r->shares && r->sum[0] && r->sum[1] ? r->sum[side] : larger;

	return complete ? 100.0 * (double)weight / (double)complete : 0;
}

static bool name_offender(const struct request *r, const struct sig_rule *rule, const struct sig_function *f,
			  struct str name)
{
	for (size_t i = 0; i < r->nlimits; i++) {
		const struct request_limit *l = &r->limit[i];
		char z[40] = "";

		if (!verdict_over(l, f, name))
			continue;
		if (rule->counted && rule->z > 0)
			snprintf(z, sizeof(z), ", z %.1f", (double)f->change.z);
		warn("over %g %%: %.2f %% -> %.2f %%, %+.2f points%s: %.*s", l->points,
		     verdict_percent(rule, 0, f->total[0]), verdict_percent(rule, 1, f->total[1]),
		     (double)f->change.points, z, (int)name.n, name.p);
		return true;
	}
	return false;
}

/* A gate that guards nothing is a mistake in its name. */
static void report_idle_limits(const struct request *r, const struct table *t, const struct stacks *s)
{
	for (size_t i = 0; i < r->nlimits; i++) {
		const struct request_limit *l = &r->limit[i];
		uint32_t k = 0;

		while (l->glob.n && k < t->n &&
		       !str_glob(l->glob, folded_plain(intern_str(&s->frames, t->row[k].frame))))
			k++;
		if (l->glob.n && k == t->n)
			warn("--fail-over %g,%.*s: no function has that name", l->points, (int)l->glob.n, l->glob.p);
	}
}

/* What is asked for may be less than the least change of pictures and tables. */
int verdict_fail_over(const struct request *r, const struct comparison *c)
{
	struct sig_rule rule = c->rule;
	struct table t;
	bool any = false;

	if (!r->nlimits)
		return PJ_OK;
	rule.points = r->limit[0].points;
	for (size_t i = 1; i < r->nlimits; i++)
		rule.points = fmin(rule.points, r->limit[i].points);
	if (!verdict_is_possible(&rule, rule.points)) {
		warn("--fail-over %g: %llu samples before and %llu after are too few: %.0f a side are needed; record longer, or allow more",
		     rule.points, verdict_ull(rule.sum[0]), verdict_ull(rule.sum[1]),
		     verdict_needs(&rule, rule.points));
		return PJ_FAILED;
	}
	table_make(&t, &rule, &c->profile.s, c->noise.frame, true);
	report_idle_limits(r, &t, &c->profile.s);
	for (uint32_t i = 0; i < t.n; i++) {
		const struct sig_function *f = &t.row[i].f;

		if (f->change.why == SIG_CHANGED && !f->change.less)
			any |= name_offender(r, &rule, f, intern_str(&c->profile.s.frames, t.row[i].frame));
	}
	table_free(&t);
	return any ? PJ_THRESHOLD : PJ_OK;
}

/* ---- what could not be used ---------------------------------------------------------------------------------- */

void verdict_bad_lines(const struct comparison *c)
{
	for (unsigned side = 0; side < 2; side++) {
		const struct folded_tally *t = &c->side[side].tally;

		for (size_t i = 0; i < countof(t->first_bad) && t->first_bad[i].name; i++)
			warn_at(t->first_bad[i], "skipped: %s", t->why[i]);
		if (t->bad > countof(t->first_bad))
			warn("%llu more lines %s were skipped", verdict_ull(t->bad - countof(t->first_bad)),
			     side ? "after" : "before");
		if (t->rounded)
			warn("%llu weights %s had decimals and were rounded", verdict_ull(t->rounded),
			     side ? "after" : "before");
	}
}
