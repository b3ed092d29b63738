/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfrecords.h - parser of one perf record into struct perfdata_record.
 *
 * The module has no state and hides the layouts of the records.
 */
#ifndef PJ_PERFRECORDS_H
#define PJ_PERFRECORDS_H

#include "fold/perfdata/perfevents.h"

/* Counters of a sample (PERF_SAMPLE_READ): n of them, `step` words from one to the next, the value in word 0. */
struct perfrecords_values {
	/* The first counter, in the bytes of the parsed record. */
	const uint64_t *word;
	uint64_t n;
	/* step: number of words of a counter. id_at: index of the word with the event id in a counter, if has_id is
	 * set. */
	unsigned step, id_at;
	bool has_id;
};

/* Use of a type of records. USED: perfrecords_parse() parses them. PASSED: known types that it does not parse;
 * perfread.c handles some of them. UNKNOWN: types that no known perf writes. */
enum perfrecords_use { RECORD_USED, RECORD_PASSED, RECORD_UNKNOWN };

/* Returns whether records of this type (PERF_RECORD_*) are parsed, passed on, or unknown. */
enum perfrecords_use perfrecords_use(uint32_t type);

/* Parses the record at p into *record, except for its offset. p must be a complete record at an address that is a
 * multiple of 8, and its size is already checked; `event` is the result of perfevents_of(), or 0 if it is EVENT_NONE.
 * Pointers in *record point into the bytes at p. Sets *values to the counters of a sample. Sets *skip if the record is
 * valid but holds nothing that is delivered. Returns NULL, or a static text with the error. */
const char *perfrecords_parse(const char *p, const struct perfevents *perfevents, uint32_t event,
			      struct perfdata_record *record, struct perfrecords_values *values, bool *skip);

#endif
