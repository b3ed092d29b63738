/* SPDX-License-Identifier: Apache-2.0 */
#include "record/processes/overbudget.h"

#include "common/formats/pjsection.h"

#include <string.h>

static const uint64_t callchain[] = { CONTEXT_USER, PJ_OVER_BUDGET_IP, CONTEXT_USER, CONTEXT_USER, CONTEXT_USER };

void overbudget_put_chain(struct text *out)
{
	text_bytes(out, callchain, sizeof(callchain));
}

bool overbudget_is_chain(const uint64_t *ips, uint64_t nips)
{
	return nips == countof(callchain) && memcmp(ips, callchain, sizeof(callchain)) == 0;
}

const struct ring_sample *overbudget_copy(const struct ring_sample *sample, uint64_t sample_type, struct text *out)
{
	const uint64_t *chain = ring_chain(sample, sample_type), nips = countof(callchain);
	const char *after = (const char *)(chain + 1 + *chain);
	uint16_t size;

	out->n = 0;
	text_bytes(out, sample, (size_t)((const char *)chain - (const char *)sample));
	text_bytes(out, &nips, sizeof(nips));
	overbudget_put_chain(out);
	text_bytes(out, after, (size_t)((const char *)sample + sample->head.size - after));
	size = (uint16_t)out->n;
	memcpy(out->p + offsetof(struct perf_record, size), &size, sizeof(size));
	return (const void *)out->p;
}
