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

#define SAMPLERECORD_MAX                                                                             \
	(PERF_RECORD_MAX & ~7u) /* greatest size of a record in bytes, as its size field has 16 bits \
				 */

struct samplerecord {
	/* End of the part of the record that precedes the callchain. */
	const char *chain;
	/* The callchain as the kernel made it, and its number of entries; the first `kernel` entries precede
	 * CONTEXT_USER. */
	const uint64_t *ips;
	uint64_t nips, kernel;
	/* raw: data of PERF_SAMPLE_RAW; after: bytes that follow the stack copy. Both are copied to the result. */
	struct str raw, after;
	/* PERF_SAMPLE_REGS_ABI_*; the registers that attr->sample_regs_user selects, NULL if the ABI is NONE. */
	uint64_t abi;
	const uint64_t *regs;
	/* The stack copy: only the bytes that the kernel copied, not all that it reserved. */
	struct str stack;
};

/* Fills *record from a sample that was recorded with attr. Returns false if the sample does not match attr. */
bool samplerecord_parse(const struct perf_event_attr *attr, const struct ring_sample *sample,
			struct samplerecord *record);

/* Starts the resulting record: appends the part of the sample before its callchain, and space for the number of
 * callchain entries. Returns the offset of that number in out. */
size_t samplerecord_begin(const struct samplerecord *record, const struct ring_sample *sample, struct text *out);

/* Completes the resulting record: sets the number of callchain entries at offset `chain`, appends the rest of the
 * sample without registers and stack copy, and sets the record's size. */
void samplerecord_end(const struct samplerecord *record, size_t chain, struct text *out);

#endif
