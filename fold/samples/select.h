/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select.h - the selection of samples: --only KEY=VALUE,... and --from/--to.
 *
 * Values of one key are alternatives, keys restrict each other: "pid=12,13,comm=java*" is (12 or 13) and java*. Times
 * are half-open, [from, to).
 */
#ifndef PJ_SELECT_H
#define PJ_SELECT_H

#include "fold/samples/samplekey.h"

struct select_range {
	uint64_t from, to; /* both included */
};

struct select_time {
	bool set;
	bool relative; /* to the first sample */
	bool wall;     /* on the wall clock; the caller converts it to the record's clock before selecting samples */
	uint64_t ns;
};

struct select_key {
	struct select_range *range; /* pid, tid, cpu */
	struct str *glob;           /* comm, event, cgroup */
	size_t n;
};

struct select {
	struct select_key pid, tid, cpu, comm, event, cgroup;
	struct select_time from, to;
};

/* Adds the keys and values of one --only. Ends the process with a usage message if text is wrong. text must stay. */
void select_only(struct select *select, const char *text);

/* Parses a time: "12.5" in seconds on the record's clock, "+12.5" from the first sample; "@12.5" since 1970 and ISO
 * 8601 (local time without Z or +01:00) on the wall clock. Ends the process with a usage message that names option. */
struct select_time select_parse_time(const char *text, const char *option);

/* Returns true if the event is selected. */
bool select_event(const struct select *select, struct str event);

/* Returns true if the sample is selected by everything but its event. first_ns: time of the first sample of the input,
 * for relative times. */
bool select_sample(const struct select *select, const struct sample_key *key, uint64_t first_ns);

/* Returns true if a sample without a time cannot be selected. */
static inline bool select_needs_time(const struct select *select)
{
	return select->from.set || select->to.set;
}

/* Returns true if a time is on the wall clock. */
bool select_needs_wall(const struct select *select);

/* Returns true if no time is in [from, to). */
bool select_empty_range(const struct select *select);

/* Frees what *select owns. */
void select_free(struct select *select);

#endif
