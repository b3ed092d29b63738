/* SPDX-License-Identifier: Apache-2.0 */
/* verdict.h - messages of pjdiff in addition to its output: the summary, skipped input, and --fail-over. */
#ifndef PJ_VERDICT_H
#define PJ_VERDICT_H

#include "diff/diffopts.h"
#include "common/formats/folded.h"
#include "diff/noise.h"
#include "diff/table.h"

struct side {
	struct folded_header header;
	struct folded_tally tally;
	bool damaged;
};

struct comparison {
	struct side side[2];
	struct profile profile;
	struct sig_rule rule;
	bool chosen; /* the user chose shares or counts */
	struct noise noise;
	struct arena arena; /* owns the texts of the headers */
};

/* Returns the number of samples for each side that are needed to detect a function that has `points` percent of the
 * total on one side alone; 0 if any number is enough. */
double verdict_needs(const struct sig_rule *rule, double points);

bool verdict_is_possible(const struct sig_rule *rule, double points);

/* Describes both sides, the rule and the result: calls `line` with `to` for each line of text. table is NULL if there
 * is none. */
void verdict_describe(const struct comparison *comparison, const struct table *table,
		      void (*line)(void *to, const char *text), void *to);

/* Tests all limits of --fail-over and reports each function beyond one. Returns PJ_OK, PJ_THRESHOLD if there is one, or
 * PJ_FAILED if there are too few samples. */
int verdict_fail_over(const struct request *request, const struct comparison *comparison);

void verdict_bad_lines(const struct comparison *comparison);

#endif
