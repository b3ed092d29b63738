/* SPDX-License-Identifier: Apache-2.0 */
/*
 * samplekey.h - the first line of a sample in `perf script` text.
 *
 * Every field is optional (-F), the comm may contain blanks, digits and colons, and nothing is quoted. So the parser
 * first finds an unambiguous field: the time ("12.345678:") or, if there is none, the event ("cycles:u:"). It parses
 * the rest from there in both directions. The functions have no state.
 */
#ifndef PJ_SAMPLEKEY_H
#define PJ_SAMPLEKEY_H

#include "common/str.h"

/* Kind of a line. */
enum samplekey_kind {
	SAMPLEKEY_NONE,     /* not the first line of a sample */
	SAMPLEKEY_WEAK,     /* a comm and perhaps an id: the first line of a sample only if frames follow */
	SAMPLEKEY_SAMPLE,   /* the first line of a sample, whatever lines are around it */
	SAMPLEKEY_RECORD,   /* a PERF_RECORD_* line of --show-*-events: no sample */
	SAMPLEKEY_DEFERRED, /* a DEFERRED CALLCHAIN line: user callchain that perf could not join to a sample */
};

/* The fields of a sample except its stack. */
struct sample_key {
	struct str comm;   /* name of the thread, without padding; empty: not printed */
	struct str first;  /* name for the first frame of the stack; empty: `comm` is used */
	struct str before; /* text up to the tid: lines with equal text have equal comm, pid and tid; empty: unknown */
	struct str event;  /* name of the event with modifiers, without the last colon; empty: not printed */
	struct str rest;   /* text after the event: payload or a frame, without blanks at the ends */
	/* number of bytes of the first word of `rest` and the blanks before it; perf pads addresses to 16 bytes */
	size_t rest_width;
	int64_t pid, tid;  /* process and thread id; -1: unknown */
	int64_t cpu;       /* number of the CPU; -1: not printed */
	struct str cgroup; /* path of the cgroup, set for perf.data only; empty: unknown */
	uint64_t period;   /* period of the sample; 0: not printed, or printed as 0 */
	bool zero_period;  /* true if the period is printed, and is 0 */
	uint64_t count;    /* number of equal samples that this sample represents; 0 means 1 */
	struct str time;   /* time in seconds as text, see samplekey_ns; empty: not printed */
	bool timed;        /* true if the time is in `ns`, not in `time` */
	uint64_t ns;       /* time in ns, if `timed` is set */
	uint64_t lost;     /* SAMPLEKEY_RECORD: number of lost records or samples in a PERF_RECORD_LOST* line, else 0 */
};

/* Parses a line without its newline into *key, and returns its kind. Returns SAMPLEKEY_NONE for an empty line, and for
 * a frame: a line that starts with a TAB. The texts of *key point into `line`. */
enum samplekey_kind samplekey_parse(struct str line, struct sample_key *key);

/* Parses a time in seconds with at most 9 decimals, like "12.345678", and sets *ns to the time in ns. Returns false if
 * `string` has another form. */
bool samplekey_time(struct str string, uint64_t *ns);

/* Sets *ns to the time of a sample in ns; returns false if it has none. Fewer than 6 decimals are read as a number of
 * microseconds, which simpleperf prints without leading zeros: "12.34" is 12 s and 34 us. */
bool samplekey_ns(const struct sample_key *key, uint64_t *ns);

/* Returns the key of an event, which is equal for both kinds of cores of a hybrid CPU. It is "x/" for cpu_core/x/ and
 * cpu_atom/x/, "wall-time" for the events of pjrecord --wall; otherwise the entire name. The result points into
 * `event`. */
struct str samplekey_event_key(struct str event);

/* Returns true if some or all samples of this event are off-CPU times, otherwise false. Periods of such samples are ns,
 * the samples may be few, and their stacks may have been read while the thread was off the CPU. */
bool samplekey_has_waits(struct str event);

/* Returns true for an event whose samples weigh as much as their periods: off-CPU times, and allocations. */
bool samplekey_has_weights(struct str event);

/* Returns true for an event whose periods are bytes: the allocations of pjrecord -e java:alloc. */
bool samplekey_has_bytes(struct str event);

#endif
