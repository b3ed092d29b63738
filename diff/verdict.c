/* SPDX-License-Identifier: Apache-2.0 */
#include "diff/verdict.h"

#include "common/arena.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned long long verdict_ull(uint64_t value)
{
	return value;
}

/* ---- too few samples ----------------------------------------------------------------------------------------- */

double verdict_needs(const struct sig_rule *rule, double points)
{
	return rule->counted && rule->z > 0 && points > 0 ? ceil(rule->z * rule->z * 100 / points) : 0;
}

bool verdict_is_possible(const struct sig_rule *rule, double points)
{
	uint64_t least = rule->sum[0] < rule->sum[1] ? rule->sum[0] : rule->sum[1];

	return (double)least >= verdict_needs(rule, points);
}

/* ---- description of the compared profiles ------------------------------------------------------------------------ */

static void unit_of(const struct comparison *comparison, char *text, size_t cap)
{
	struct str unit =
		comparison->side[0].header.unit.n ? comparison->side[0].header.unit : comparison->side[1].header.unit;

	if (!unit.n)
		unit = STR("samples");
	snprintf(text, cap, "%.*s", (int)(unit.n < 30 ? unit.n : 30), unit.p);
}

static void describe_rule(const struct comparison *comparison, const struct table *table, struct text *line)
{
	const struct sig_rule *rule = &comparison->rule;

	text_printf(line, "minimum change %g points and %g %%", rule->points, 100 * rule->relative);
	if (!rule->counted)
		text_add(line, "; noise is not tested, since weights are not counts of samples");
	else if (rule->z <= 0)
		text_add(line, "; noise is not tested");
	else
		text_printf(line, ", |z| >= %g; dispersion %.2f, drift %.1f %%", rule->z, rule->dispersion,
			    100 * rule->drift);
	if (table && rule->counted && rule->z > 0)
		text_printf(line, "; %u functions tested, corrected for their number (Benjamini-Hochberg)",
			    table->tested);
}

void verdict_describe(const struct comparison *comparison, const struct table *table,
		      void (*line)(void *to, const char *text), void *to)
{
	const struct sig_rule *rule = &comparison->rule;
	struct text text = { 0 };
	char unit[32];
	bool shared;

	unit_of(comparison, unit, sizeof(unit));
	shared = rule->shares && !comparison->chosen;
	text_printf(&text, "before %llu, after %llu %s (%u and %u window%s): %s are compared%s",
		    verdict_ull(rule->sum[0]), verdict_ull(rule->sum[1]), unit, comparison->profile.windows[0],
		    comparison->profile.windows[1],
		    comparison->profile.windows[0] == 1 && comparison->profile.windows[1] == 1 ? "" : "s",
		    rule->shares ? "shares of the totals" : "counts",
		    shared ? "; --counts if both sides did the same work" : "");
	text_char(&text, 0);
	line(to, text.p);
	text.n = 0;
	describe_rule(comparison, table, &text);
	text_char(&text, 0);
	line(to, text.p);
	if (rule->counted && rule->z > 0 && rule->drift <= 0 && comparison->profile.windows[0] <= 1 &&
	    comparison->profile.windows[1] <= 1)
		line(to, "one window a side: counting noise only; two runs of one program differ by more");
	if (!verdict_is_possible(rule, rule->points)) {
		text.n = 0;
		text_printf(&text,
			    "too few samples for a comparison: %llu and %llu, but %.0f a side are needed to detect a "
			    "growth from 0 to %g %%",
			    verdict_ull(rule->sum[0]), verdict_ull(rule->sum[1]), verdict_needs(rule, rule->points),
			    rule->points);
		text_char(&text, 0);
		line(to, text.p);
	} else if (table) {
		text.n = 0;
		text_printf(&text, "%u of %u functions changed, %u more only moved", table->changed, table->n,
			    table->moved);
		text_char(&text, 0);
		line(to, text.p);
	}
	text_free(&text);
}

/* ---- limits of --fail-over --------------------------------------------------------------------------------------- */

static bool verdict_over(const struct request_limit *limit, const struct sig_function *function, struct str name)
{
	return (double)function->change.points >= limit->points &&
	       (!limit->glob.n || str_glob(limit->glob, folded_plain(name)));
}

static double verdict_percent(const struct sig_rule *rule, unsigned side, uint64_t weight)
{
	uint64_t larger = rule->sum[0] > rule->sum[1] ? rule->sum[0] : rule->sum[1];
	uint64_t complete = rule->shares && rule->sum[0] && rule->sum[1] ? rule->sum[side] : larger;

	return complete ? 100.0 * (double)weight / (double)complete : 0;
}

static bool name_offender(const struct request *request, const struct sig_rule *rule,
			  const struct sig_function *function, struct str name)
{
	for (size_t i = 0; i < request->nlimits; i++) {
		const struct request_limit *limit = &request->limit[i];
		char z[40] = "";

		if (!verdict_over(limit, function, name))
			continue;
		if (rule->counted && rule->z > 0)
			snprintf(z, sizeof(z), ", z %.1f", (double)function->change.z);
		warn("over %g %%: %.2f %% -> %.2f %%, %+.2f points%s: %.*s", limit->points,
		     verdict_percent(rule, 0, function->total[0]), verdict_percent(rule, 1, function->total[1]),
		     (double)function->change.points, z, (int)name.n, name.p);
		return true;
	}
	return false;
}

/* Warns of a --fail-over pattern that matches no function, since it is probably mistyped. */
static void report_idle_limits(const struct request *request, const struct table *table, const struct stacks *stacks)
{
	for (size_t i = 0; i < request->nlimits; i++) {
		const struct request_limit *limit = &request->limit[i];
		uint32_t index = 0;

		while (limit->glob.n && index < table->n &&
		       !str_glob(limit->glob, folded_plain(intern_str(&stacks->frames, table->row[index].frame))))
			index++;
		if (limit->glob.n && index == table->n)
			warn("--fail-over %g,%.*s: no function has that name", limit->points, (int)limit->glob.n,
			     limit->glob.p);
	}
}

/* Compares again with the smallest limit of --fail-over as minimum change, since that limit may be below the minimum
 * change of pictures and tables. */
int verdict_fail_over(const struct request *request, const struct comparison *comparison)
{
	struct sig_rule rule = comparison->rule;
	struct table table;
	bool any = false;

	if (!request->nlimits)
		return PJ_OK;
	rule.points = request->limit[0].points;
	for (size_t i = 1; i < request->nlimits; i++)
		rule.points = fmin(rule.points, request->limit[i].points);
	if (!verdict_is_possible(&rule, rule.points)) {
		warn("--fail-over %g: %llu samples before and %llu after are too few: %.0f a side are needed; record longer, or allow more",
		     rule.points, verdict_ull(rule.sum[0]), verdict_ull(rule.sum[1]),
		     verdict_needs(&rule, rule.points));
		return PJ_FAILED;
	}
	table_make(&table, &rule, &comparison->profile.s, comparison->noise.frame, true);
	report_idle_limits(request, &table, &comparison->profile.s);
	for (uint32_t i = 0; i < table.n; i++) {
		const struct sig_function *function = &table.row[i].f;

		if (function->change.why == SIG_CHANGED && !function->change.less)
			any |= name_offender(request, &rule, function,
					     intern_str(&comparison->profile.s.frames, table.row[i].frame));
	}
	table_free(&table);
	return any ? PJ_THRESHOLD : PJ_OK;
}

/* ---- report of skipped input ------------------------------------------------------------------------------------- */

void verdict_bad_lines(const struct comparison *comparison)
{
	for (unsigned side = 0; side < 2; side++) {
		const struct folded_tally *tally = &comparison->side[side].tally;

		for (size_t i = 0; i < countof(tally->first_bad) && tally->first_bad[i].name; i++)
			warn_at(tally->first_bad[i], "skipped: %s", tally->why[i]);
		if (tally->bad > countof(tally->first_bad))
			warn("%llu more lines %s were skipped", verdict_ull(tally->bad - countof(tally->first_bad)),
			     side ? "after" : "before");
		if (tally->rounded)
			warn("%llu weights %s had decimals and were rounded", verdict_ull(tally->rounded),
			     side ? "after" : "before");
	}
}
