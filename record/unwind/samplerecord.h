/* SPDX-License-Identifier: Apache-2.0 */
/*
 * samplerecord.h - the parts of a PERF_RECORD_SAMPLE that has user registers and a stack copy.
 *
 * The kernel writes records of its own layout, but their sizes and counts come from the sampled process's state, so
 * each is compared with the record's size. Pointers lead into the record.
 */
#ifndef PJ_SAMPLERECORD_H
#define PJ_SAMPLERECORD_H

#include "common/text.h"
#include "record/perf/rings.h"

#define SAMPLERECORD_MAX (PERF_RECORD_MAX & ~7u) /* bytes: the size field of a record has 16 bits */

struct samplerecord {
	/* The record from its header to here precedes the callchain. */
	const char *chain;
	/* The callchain as the kernel made it; the first `kernel` entries are those before CONTEXT_USER. */
	const uint64_t *ips;
	uint64_t nips, kernel;
	/* PERF_SAMPLE_RAW, and what follows the stack copy: both are copied to the result. */
	struct str raw, after;
	/* PERF_SAMPLE_REGS_ABI_*, and the registers of attr->sample_regs_user; NULL if the ABI is NONE. */
	uint64_t abi;
	const uint64_t *regs;
	/* The bytes that the kernel copied, not those that it reserved. */
	struct str stack;
};

/* Fills *record from sample, recorded with attr. Returns false if the sample does not match attr. */
bool samplerecord_parse(const struct perf_event_attr *attr, const struct ring_sample *sample,
			struct samplerecord *record);

/* Starts the result with the part of the sample before its callchain, and space for the number of callchain entries.
 * Returns the offset of that number in out. */
size_t samplerecord_begin(const struct samplerecord *record, const struct ring_sample *sample, struct text *out);

/* Ends the result: the number of callchain entries at offset `chain`, the rest of the sample without registers and
 * stack copy, and the record's size. */
void samplerecord_end(const struct samplerecord *record, size_t chain, struct text *out);

#endif
