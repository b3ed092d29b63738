/* SPDX-License-Identifier: Apache-2.0 */
/*
 * samplekey.h - the first line of a sample in `perf script` text.
 *
 * Every field is optional (-F), the comm may contain blanks, digits and colons, and nothing is quoted. So the parser
 * first finds the field that is unmistakable, the time ("12.345678:") or, without one, the event ("cycles:u:"), and
 * from there parses to both sides. The functions have no state.
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

/* Fields of a sample beside its stack. */
struct sample_key {
	struct str comm;   /* name of the thread, without padding; empty: not printed */
	struct str first;  /* text of the first frame, if it is not `comm`; empty: `comm` */
	struct str before; /* text up to the tid: lines with equal text have equal comm, pid and tid; empty: unknown */
	struct str event;  /* name of the event with modifiers, without the last colon; empty: not printed */
	struct str rest;   /* text after the event: payload or a frame, without blanks at the ends */
	size_t rest_width; /* length of the first word of `rest` and the blanks before it; perf pads addresses to 16
			      wide */
	int64_t pid, tid;  /* process and thread id; -1: unknown */
	int64_t cpu;       /* number of the CPU; -1: not printed */
	struct str cgroup; /* path of the cgroup, of perf.data only; empty: unknown */
	uint64_t period;   /* period of the sample; 0: not printed */
	uint64_t count;    /* number of equal samples that this one stands for; 0 counts as 1 */
	struct str time;   /* time in seconds as text, see samplekey_ns; empty: not printed */
	bool timed;        /* the time is the number `ns`, not the text `time` */
	uint64_t ns;       /* time in ns, if `timed` is set */
	uint64_t lost;     /* SAMPLEKEY_RECORD: number of lost records in a PERF_RECORD_LOST* line, else 0 */
};

/* Parses a line without its newline into *key, and returns its kind. Lines that begin with a TAB are frames:
 * SAMPLEKEY_NONE. The texts of *key point into `line`. */
enum samplekey_kind samplekey_parse(struct str line, struct sample_key *key);

/* Parses a time in seconds with at most 9 decimals, like "12.345678", and sets *ns to it in ns. Returns false if
 * `string` is no such time. */
bool samplekey_time(struct str string, uint64_t *ns);

/* Sets *ns to the time of a sample in ns; returns false if it has none. Fewer than 6 decimals are a number of
 * microseconds, which simpleperf prints without leading zeros: "12.34" is 12 s and 34 us. */
bool samplekey_ns(const struct sample_key *key, uint64_t *ns);

/* Returns the key of an event: the part of its name that is equal for both kinds of cores of a hybrid CPU. It is "x/"
 * for cpu_core/x/ and cpu_atom/x/, "wall-time" for the events of pjrecord --wall; otherwise the whole name. The result
 * points into `event`. */
struct str samplekey_event_key(struct str event);

/* Returns true for an event whose samples, or a part of them, are off-CPU times: their periods are ns, they may be few,
 * and their stacks may have been read while the thread was off the CPU. */
bool samplekey_has_waits(struct str event);

#endif
