/* SPDX-License-Identifier: Apache-2.0 */
/* rule.h - the rule for the tests of a difference. Options of the user have precedence over values that pjdiff put into
 * the header, and these over defaults. */
#ifndef PJ_RULE_H
#define PJ_RULE_H

#include "common/formats/folded.h"
#include "svg/request.h"
#include "common/significance.h"
#include "common/text.h"

/* Returns the rule. stacks has two columns; unit is the unit of the weights. */
struct sig_rule rule_make(const struct request *request, const struct folded_header *header,
			  const struct stacks *stacks, struct str unit);

/* Appends a sentence for the reader: which changes are coloured, and how far they were tested for noise. */
void rule_caveat(struct text *text, const struct sig_rule *rule, const struct folded_header *header);

#endif
