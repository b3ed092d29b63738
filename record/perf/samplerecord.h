/* SPDX-License-Identifier: Apache-2.0 */
/*
 * samplerecord.h - parses a PERF_RECORD_SAMPLE that has user registers and a stack copy, and writes the resulting
 * record: the sample with another callchain, without registers and stack copy.
 *
 * The kernel writes the parsed record, but its sizes and counts depend on the state of the sampled process. So
 * samplerecord_parse compares each size and count with the size of the record. All pointers lead into the record.
 */
#ifndef PJ_SAMPLERECORD_H
#define PJ_SAMPLERECORD_H

#include "common/text.h"
#include "record/perf/rings.h"

#define SAMPLERECORD_MAX \
	(PERF_RECORD_MAX & ~7u) /* maximum size of a record in bytes, a multiple of 8: its size field has 16 bits */

struct samplerecord {
	/* position of the number of callchain entries (u64) in the record, after its fixed fields; the entries follow
	 * it */
	const char *chain;
	/* ips: callchain from the kernel; nips: its number of entries; kernel: number of entries before CONTEXT_USER */
	const uint64_t *ips;
	uint64_t nips, kernel;
	/* raw: data of PERF_SAMPLE_RAW; after: bytes that follow the stack copy. Both are copied to the resulting
	 * record. */
	struct str raw, after;
	/* abi: PERF_SAMPLE_REGS_ABI_*; regs: values of the registers in attr->sample_regs_user, NULL if the ABI is
	 * NONE */
	uint64_t abi;
	const uint64_t *regs;
	/* stack copy: the bytes that the kernel copied, without the rest of the space that it reserved */
	struct str stack;
};

/* Fills *record from a sample that was recorded with attr. Returns false if the sample does not match attr. */
bool samplerecord_parse(const struct perf_event_attr *attr, const struct ring_sample *sample,
			struct samplerecord *record);

/* Starts the resulting record: appends the fields of the sample before its callchain, and space for the number of
 * callchain entries. Returns the offset of the number in `out`. The caller then appends the entries. */
size_t samplerecord_begin(const struct samplerecord *record, const struct ring_sample *sample, struct text *out);

/* Completes the resulting record: sets the number of callchain entries at offset `chain`, appends the rest of the
 * sample without registers and stack copy, and sets the record's size. */
void samplerecord_end(const struct samplerecord *record, size_t chain, struct text *out);

#endif
