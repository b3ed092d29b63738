/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select.h - the selection of samples: --only KEY=VALUE,... and --from/--to.
 *
 * A sample is selected if each key that the user gives has a matching value: "pid=12,13,comm=java*" selects samples
 * with pid 12 or 13 and a comm that matches java*. --from and --to select times from <= time < to.
 */
#ifndef PJ_SELECT_H
#define PJ_SELECT_H

#include "fold/samples/samplekey.h"

struct select_range {
	uint64_t from, to; /* first and last selected number */
};

/* The value of --from or --to. */
struct select_time {
	bool set;      /* the option is given */
	bool relative; /* ns counts from the first sample */
	bool wall; /* ns is on the wall clock; the caller must convert it to the recording's clock for select_sample */
	uint64_t ns; /* time in ns */
};

/* The values of one key: n elements of range or of glob. n is 0 if the key is not given. */
struct select_key {
	struct select_range *range; /* values of pid, tid, cpu */
	struct str *glob;           /* patterns of comm, event, cgroup */
	size_t n;
};

/* The selection; all zero selects all samples. */
struct select {
	struct select_key pid, tid, cpu, comm, event, cgroup;
	struct select_time from, to;
};

/* Adds the keys and values of one option --only, whose value is `text`. *select keeps pointers into text. Ends the
 * process with a usage message if text is malformed. */
void select_only(struct select *select, const char *text);

/* Parses a time: "12.5" is in seconds on the recording's clock, "+12.5" in seconds from the first sample, "@12.5" in
 * seconds since 1970. ISO 8601, too, is on the wall clock, in local time unless Z or an offset like +01:00 follows.
 * Ends the process with a usage message that names `option` if text is no time. */
struct select_time select_parse_time(const char *text, const char *option);

/* Returns true if the key event is not given or one of its patterns matches this event. */
bool select_event(const struct select *select, struct str event);

/* Returns true if the times and all keys except event select this sample. first_ns is the time of the first sample of
 * the input in ns, from which relative times count. */
bool select_sample(const struct select *select, const struct sample_key *key, uint64_t first_ns);

/* Returns true if only some samples of an event are selected, by any other key than event. */
bool select_is_partial(const struct select *select);

/* Returns true if --from or --to is given, so that samples without a time are not selected. */
static inline bool select_needs_time(const struct select *select)
{
	return select->from.set || select->to.set;
}

/* Returns true if --from or --to is on the wall clock. */
bool select_needs_wall(const struct select *select);

/* Returns true if --to is not later than --from, so that no sample is selected. False if the two are on different
 * clocks. */
bool select_empty_range(const struct select *select);

/* Frees the memory of *select, which becomes empty. */
void select_free(struct select *select);

#endif
