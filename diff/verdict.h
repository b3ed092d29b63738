/* SPDX-License-Identifier: Apache-2.0 */
/* verdict.h - messages of pjdiff beside its output: the summary, unused input, and --fail-over. */
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
	struct noise noise;
	struct arena arena; /* texts of the headers */
};

/* Returns the number of samples a side that are needed to detect a function of that many points on one side alone; 0 if
 * any number is enough. */
double verdict_needs(const struct sig_rule *rule, double points);

bool verdict_is_possible(const struct sig_rule *rule, double points);

/* Writes lines about both sides and the rule, each by a call of put. */
void verdict_describe(const struct comparison *comparison, const struct table *table,
		      void (*line)(void *to, const char *text), void *to);

/* Tests all limits of --fail-over. Returns PJ_OK, PJ_THRESHOLD, or PJ_FAILED if samples are too few. */
int verdict_fail_over(const struct request *request, const struct comparison *comparison);

void verdict_bad_lines(const struct comparison *comparison);

#endif
