/* SPDX-License-Identifier: Apache-2.0 */
#include "record/perf/samplerecord.h"

/* Removes the first n bytes from *string and sets *part to them. Returns false if *string has fewer bytes. */
static bool samplerecord_take(struct str *string, uint64_t n, struct str *part)
{
	if (n > string->n)
		return false;
	*part = str_head(*string, (size_t)n);
	*string = str_from(*string, (size_t)n);
	return true;
}

static bool samplerecord_take_u64(struct str *string, uint64_t *value)
{
	struct str part;

	if (!samplerecord_take(string, 8, &part))
		return false;
	*value = load64(part.p);
	return true;
}

static bool samplerecord_take_chain(struct str *string, struct samplerecord *record)
{
	struct str part;

	record->chain = string->p;
	if (!samplerecord_take_u64(string, &record->nips) || record->nips > string->n / 8 ||
	    !samplerecord_take(string, 8 * record->nips, &part))
		return false;
	record->ips = (const void *)part.p;
	while (record->kernel < record->nips && record->ips[record->kernel] != CONTEXT_USER)
		record->kernel++;
	return true;
}

/* Removes the raw data of a sample from *string: u32 size, bytes, padding to a multiple of 8. Returns false if *string
 * is too short. */
static bool samplerecord_take_raw(struct str *string, struct samplerecord *record)
{
	return string->n >= 4 &&
	       samplerecord_take(string, ((uint64_t)load32(string->p) + 4 + 7) & ~UINT64_C(7), &record->raw);
}

static bool samplerecord_take_regs(struct str *string, uint64_t mask, struct samplerecord *record)
{
	struct str part = { 0 };

	if (!samplerecord_take_u64(string, &record->abi) ||
	    (record->abi && !samplerecord_take(string, 8 * (uint64_t)__builtin_popcountll(mask), &part)))
		return false;
	record->regs = (const void *)part.p;
	return true;
}

/* Removes the stack copy from *string: u64 reserved size, the bytes, u64 number of copied bytes. If the reserved size
 * is 0, neither bytes nor the second number follow. */
static bool samplerecord_take_stack(struct str *string, struct samplerecord *record)
{
	uint64_t size, copied;

	if (!samplerecord_take_u64(string, &size))
		return false;
	if (size == 0)
		return true;
	if (size % 8 || !samplerecord_take(string, size, &record->stack) || !samplerecord_take_u64(string, &copied))
		return false;
	record->stack = str_head(record->stack, copied < size ? (size_t)copied : (size_t)size);
	return true;
}

bool samplerecord_parse(const struct perf_event_attr *attr, const struct ring_sample *sample,
			struct samplerecord *record)
{
	struct str string = { (const char *)sample, sample->head.size }, head;
	bool period = attr->sample_type & PERF_SAMPLE_PERIOD;

	*record = (struct samplerecord){ 0 };
	if (!samplerecord_take(&string,
			       period ? offsetof(struct ring_sample, nips) : offsetof(struct ring_sample, period),
			       &head) ||
	    !samplerecord_take_chain(&string, record))
		return false;
	record->raw.p = string.p;
	if (attr->sample_type & PERF_SAMPLE_RAW && !samplerecord_take_raw(&string, record))
		return false;
	if (!samplerecord_take_regs(&string, attr->sample_regs_user, record) ||
	    !samplerecord_take_stack(&string, record))
		return false;
	record->after = string;
	return true;
}

size_t samplerecord_begin(const struct samplerecord *record, const struct ring_sample *sample, struct text *out)
{
	uint64_t none = 0;

	text_bytes(out, sample, (size_t)(record->chain - (const char *)sample));
	text_bytes(out, &none, sizeof(none));
	return out->n - sizeof(none);
}

void samplerecord_end(const struct samplerecord *record, size_t chain, struct text *out)
{
	uint64_t n = (out->n - chain) / 8 - 1;
	uint16_t size;

	memcpy(out->p + chain, &n, sizeof(n));
	text_str(out, record->raw);
	text_str(out, record->after);
	size = (uint16_t)out->n;
	memcpy(out->p + offsetof(struct perf_record, size), &size, sizeof(size));
}
