/* SPDX-License-Identifier: Apache-2.0 */
/*
 * overbudget.h - the callchain of a sample whose tenant is over budget.
 *
 * The callchain replaces the stack. It consists of the address PJ_OVER_BUDGET_IP as user code and the context markers
 * of a stack of unknown completeness (PJ_ITEM_UNWINDING), because the stack was not walked or not written. The recorder
 * replaces some stacks before unwinding and others before writing, both by this module.
 */
#ifndef PJ_OVERBUDGET_H
#define PJ_OVERBUDGET_H

#include "common/text.h"
#include "record/perf/rings.h"

/* Appends the callchain of a sample over budget to out, without the number of its entries. */
void overbudget_put_chain(struct text *out);

/* Returns true if ips[0..nips) is the callchain of a sample over budget. */
bool overbudget_is_chain(const uint64_t *ips, uint64_t nips);

/* Writes a copy of a sample to *out, with the callchain of a sample over budget. sample_type: perf's sample_type of the
 * sample's event. Returns the copy, which is valid until *out changes. */
const struct ring_sample *overbudget_copy(const struct ring_sample *sample, uint64_t sample_type, struct text *out);

#endif
