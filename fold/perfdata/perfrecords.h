/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfrecords.h - parser of one perf record into struct perfdata_record.
 *
 * The module has no state and hides the layouts of the records.
 */
#ifndef PJ_PERFRECORDS_H
#define PJ_PERFRECORDS_H

#include "fold/perfdata/perfevents.h"

/* The n counters of a sample (PERF_SAMPLE_READ). Each has `step` words, of which word 0 is the value. */
struct perfrecords_values {
	/* The first counter, in the bytes of the parsed record. */
	const uint64_t *word;
	uint64_t n;
	/* step: number of words of a counter. id_at: index of the word with the event id in a counter, if has_id is
	 * set. */
	unsigned step, id_at;
	bool has_id;
};

/* What is done with records of a type. RECORD_USED: perfrecords_parse() parses the records. RECORD_PASSED:
 * perfrecords_parse() does not parse them although the type is known; perfread.c handles some of these types.
 * RECORD_UNKNOWN: no known perf writes the type; the records are skipped. */
enum perfrecords_use { RECORD_USED, RECORD_PASSED, RECORD_UNKNOWN };

/* Returns the use of records of this type (PERF_RECORD_*). */
enum perfrecords_use perfrecords_use(uint32_t type);

/* Parses the record at p into *record, except for its offset. p must be a complete record at an address that is a
 * multiple of 8, and its size is already checked; `event` is the result of perfevents_of(), or 0 if it is EVENT_NONE.
 * Pointers in *record point into the bytes at p. Sets *values to the counters of a sample. Sets *skip to true if the
 * record is valid, but contains no data for the caller of perfdata_next(). Returns NULL, or a static text with the
 * error. */
const char *perfrecords_parse(const char *p, const struct perfevents *perfevents, uint32_t event,
			      struct perfdata_record *record, struct perfrecords_values *values, bool *skip);

#endif
