/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfrecords.h - the bytes of one record into struct perfdata_record. Pure; hides the layouts.
 */
#ifndef PJ_PERFRECORDS_H
#define PJ_PERFRECORDS_H

#include "fold/perfdata/perfevents.h"

/* Counter values that a sample carries (PERF_SAMPLE_READ): n of them, `step` words apart. */
struct perfrecords_values {
	const uint64_t *word;
	uint64_t n;
	unsigned step, id_at;
	bool has_id;
};

enum perfrecords_use { RECORD_USED, RECORD_PASSED, RECORD_UNKNOWN }; /* PASSED: known, and of no use here */

enum perfrecords_use perfrecords_use(uint32_t type);

/* p: a whole record, aligned to 8. event: as perfevents_of says. NULL and *record (but for offset), or why not: a
 * static text. *r's pointers point into p. *skip: the record is good, but says nothing that is wanted. */
const char *perfrecords_parse(const char *p, const struct perfevents *perfevents, uint32_t event,
			      struct perfdata_record *record, struct perfrecords_values *values, bool *skip);

#endif
