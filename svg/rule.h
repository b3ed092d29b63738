/* SPDX-License-Identifier: Apache-2.0 */
/* rule.h - the rule by which changes in a difference are tested. Options of the user have precedence over values in the
 * input's header (from pjdiff), and values in the header have precedence over defaults. */
#ifndef PJ_RULE_H
#define PJ_RULE_H

#include "common/formats/folded.h"
#include "svg/request.h"
#include "common/significance.h"
#include "common/text.h"

/* Returns the rule. stacks: the stacks of the difference, column 0 before, column 1 after; unit: the unit that the user
 * gave for the weights. */
struct sig_rule rule_make(const struct request *request, const struct folded_header *header,
			  const struct stacks *stacks, struct str unit);

/* Appends a sentence for the reader: which changes are coloured, and how they were tested for noise. */
void rule_caveat(struct text *text, const struct sig_rule *rule, const struct folded_header *header);

#endif
