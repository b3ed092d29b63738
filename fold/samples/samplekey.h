/* SPDX-License-Identifier: Apache-2.0 */
/*
 * samplekey.h - the first line of a sample in `perf script` text.
 *
 * Every field is optional (-F), comm may hold blanks, digits and colons, and nothing is quoted. So the line is read
 * from what cannot be mistaken, the time ("12.345678:") or else the event ("cycles:u:"), outwards to both sides.
 * Pure.
 */
#ifndef PJ_SAMPLEKEY_H
#define PJ_SAMPLEKEY_H

#include "common/str.h"

enum samplekey_kind {
	SAMPLEKEY_NONE,     /* not a header */
	SAMPLEKEY_WEAK,     /* a comm and little else: a header only if frames follow */
	SAMPLEKEY_SAMPLE,   /* certainly a sample, wherever it stands */
	SAMPLEKEY_RECORD,   /* PERF_RECORD_*: shown with --show-*-events; no sample */
	SAMPLEKEY_DEFERRED, /* DEFERRED CALLCHAIN: user half of a stack that perf could not join */
};

struct sample_key {
	struct str comm;   /* without padding; empty: not printed */
	struct str first;  /* what the first frame says; empty: comm */
	struct str before; /* all up to the tid: equal bytes here mean equal comm, pid and tid; empty: not known */
	struct str event;  /* without the last colon; empty: not printed */
	struct str rest;   /* behind the event: payload or a frame, without blanks at the ends */
	size_t rest_width; /* blanks before rest and its first word: perf prints addresses 16 wide */
	int64_t pid, tid;  /* -1: not known */
	int64_t cpu;       /* -1: not printed */
	struct str cgroup; /* path; text does not tell it */
	uint64_t period;   /* 0: not printed */
	struct str time;   /* text, see header_time; empty: not printed */
	bool timed;        /* no text: ns is the time */
	uint64_t ns;
	uint64_t lost; /* HEADER_RECORD: number in PERF_RECORD_LOST*, else 0 */
};

/* Parses line (no newline). Lines that begin with a TAB are frames, never headers. */
enum samplekey_kind samplekey_parse(struct str line, struct sample_key *key);

/* "12.345678" (any number of decimals up to 9) in ns; false when it is not such a number. */
bool samplekey_time(struct str string, uint64_t *ns);

/* The time of a sample in ns; false when it has none. */
bool samplekey_ns(const struct sample_key *key, uint64_t *ns);

/* What tells events apart: hybrid cpu_core/x/ and cpu_atom/x/ are one event, "x/". Points into event. */
struct str samplekey_event_key(struct str event);

#endif
