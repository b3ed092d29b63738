/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select.h - which samples count: --only KEY=VALUE,... and --from/--to.
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
	bool wall;     /* on the wall clock: to be made one of the record's before samples are selected */
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

/* Adds what --only says; dies with a usage message. text must stay. */
void select_only(struct select *select, const char *text);

/* "12.5" on the record's clock, "+12.5" seconds from the first sample; "@12.5" since 1970 and ISO 8601 (local time
 * unless it says Z or +01:00) on the wall clock. Dies with a usage message that names option. */
struct select_time select_parse_time(const char *text, const char *option);

bool select_event(const struct select *select, struct str event); /* does the event pass? */

/* Does everything but the event pass? first_ns: time of the first sample of the input. */
bool select_sample(const struct select *select, const struct sample_key *key, uint64_t first_ns);

static inline bool select_needs_time(const struct select *select)
{
	return select->from.set || select->to.set;
}

bool select_needs_wall(const struct select *select);

bool select_empty_range(const struct select *select); /* can no time be at or after from and before to? */

void select_free(struct select *select);

#endif
