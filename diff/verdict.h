/* SPDX-License-Identifier: Apache-2.0 */
/* verdict.h - prints the messages of pjdiff: the summary, skipped input, and functions that exceed --fail-over. */
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
	bool chosen; /* true if an option of the user chose between shares and counts; false: pjdiff chose */
	struct noise noise;
	struct arena arena; /* owns the texts of the headers */
};

/* Returns the number of samples that each side needs to detect a function that has `points` percent of the total on one
 * side and none on the other, if only counting noise exists; 0 if any number is enough. */
double verdict_needs(const struct sig_rule *rule, double points);

/* Returns true if each side has the number of samples that verdict_needs returns. */
bool verdict_is_possible(const struct sig_rule *rule, double points);

/* Describes both sides, the rule and the result: calls line(to, text) for each line of text. With a table, the text
 * contains the numbers of tested and of changed functions; table NULL: it does not. */
void verdict_describe(const struct comparison *comparison, const struct table *table,
		      void (*line)(void *to, const char *text), void *to);

/* Tests all limits of --fail-over, and warns of each function with a significant increase that reaches a limit. Returns
 * PJ_OK if no function does, or if there are no limits; PJ_THRESHOLD if one does; PJ_FAILED, without a test, if there
 * are too few samples to detect the smallest limit. */
int verdict_fail_over(const struct request *request, const struct comparison *comparison);

/* Warns of input lines that were skipped, and of weights that were rounded. */
void verdict_bad_lines(const struct comparison *comparison);

#endif
