/* SPDX-License-Identifier: Apache-2.0 */
/* rule.h - the rule for the comparison of a difference: options of the user, then values that pjdiff put into the
 * header, then defaults. */
#ifndef PJ_RULE_H
#define PJ_RULE_H

#include "common/formats/folded.h"
#include "svg/request.h"
#include "common/significance.h"
#include "common/text.h"

/* Sets the rule. stacks has two columns; unit is the unit of weights. */
struct sig_rule rule_make(const struct request *request, const struct folded_header *header,
			  const struct stacks *stacks, struct str unit);

/* Appends what the reader has to know about it, in a sentence; nothing when there is nothing. */
void rule_caveat(struct text *text, const struct sig_rule *rule, const struct folded_header *header);

#endif
