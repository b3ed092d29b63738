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
	bool set;      /* true if the user gave the option */
	bool relative; /* true if `ns` is a time since the first sample */
	/* true if `ns` is wall-clock time; the caller must convert it to the recording's clock for select_sample */
	bool wall;
	/* Time in ns: since the first sample if `relative` is true, since 1970 if `wall` is true, otherwise on the
	 * recording's clock. */
	uint64_t ns;
};

/* The values of one key: n elements of range or of glob. n is 0 if the user does not give the key: the key then selects
 * all samples. */
struct select_key {
	struct select_range *range; /* values of pid, tid, cpu */
	struct str *glob;           /* patterns of comm, event, cgroup */
	size_t n;
};

/* The selection; a struct of zeros selects all samples. */
struct select {
	struct select_key pid, tid, cpu, comm, event, cgroup;
	struct select_time from, to;
};

/* Adds the keys and values of one option --only, whose value is `text`. *select keeps pointers into text. Ends the
 * process with a usage message if text is malformed. */
void select_only(struct select *select, const char *text);

/* Parses a time: "12.5" is in seconds on the recording's clock, "+12.5" in seconds from the first sample, "@12.5" in
 * seconds since 1970. An ISO 8601 time is wall-clock time, too: local time unless Z or an offset like +01:00 follows.
 * Ends the process with a usage message that names `option` if text is no time. */
struct select_time select_parse_time(const char *text, const char *option);

/* Returns true if the user gave no key `event`, or if one of the patterns of this key matches the event; otherwise
 * false. */
bool select_event(const struct select *select, struct str event);

/* Returns true if the times and all keys except event select this sample; otherwise false. first_ns is the time of the
 * first sample of the input in ns, to which relative times are added. */
bool select_sample(const struct select *select, const struct sample_key *key, uint64_t first_ns);

/* Returns true if a time or a key other than `event` is given, so that only a part of an event's samples may be
 * selected; false if the selection has all samples of a selected event. */
bool select_is_partial(const struct select *select);

/* Returns true if --from or --to is given, so that samples without a time are not selected; otherwise false. */
static inline bool select_needs_time(const struct select *select)
{
	return select->from.set || select->to.set;
}

/* Returns true if --from or --to is given as a time since the first sample, otherwise false. */
static inline bool select_needs_first(const struct select *select)
{
	return (select->from.set && select->from.relative) || (select->to.set && select->to.relative);
}

/* Returns true if --from or --to is given as a time on the wall clock, otherwise false. */
bool select_needs_wall(const struct select *select);

/* Returns true if both --from and --to are given, on the same clock, and --to is not later than --from, so that no
 * sample is selected; otherwise false. */
bool select_empty_range(const struct select *select);

/* Frees the memory of *select, which becomes empty. */
void select_free(struct select *select);

#endif
