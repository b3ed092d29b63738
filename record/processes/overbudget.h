/* SPDX-License-Identifier: Apache-2.0 */
/*
 * overbudget.h - the callchain of a sample whose tenant is over budget.
 *
 * It replaces the stack: the one address PJ_OVER_BUDGET_IP, then the context markers of a stack of unknown completeness
 * (PJ_ITEM_UNWINDING), because the stack was not walked or not written. The recorder replaces stacks at two places,
 * before unwinding and before writing; both compose the callchain here.
 */
#ifndef PJ_OVERBUDGET_H
#define PJ_OVERBUDGET_H

#include "common/text.h"
#include "record/perf/rings.h"

/* Appends the callchain without the number of its entries. */
void overbudget_put_chain(struct text *out);

/* Returns true if ips[0..nips) is this callchain. */
bool overbudget_is_chain(const uint64_t *ips, uint64_t nips);

/* Composes in *out a copy of a sample whose callchain is this one. Returns the copy, which is valid until *out
 * changes. */
const struct ring_sample *overbudget_copy(const struct ring_sample *sample, uint64_t sample_type, struct text *out);

#endif
