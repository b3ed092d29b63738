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
	SAMPLEKEY_SAMPLE,   /* certainly a sample, at any place */
	SAMPLEKEY_RECORD,   /* PERF_RECORD_*: shown with --show-*-events; no sample */
	SAMPLEKEY_DEFERRED, /* DEFERRED CALLCHAIN: user part of a callchain that perf could not join */
};

struct sample_key {
	struct str comm;   /* without padding; empty: not printed */
	struct str first;  /* text of the first frame; empty: comm */
	struct str before; /* all up to the tid: equal bytes here mean equal comm, pid and tid; empty: not known */
	struct str event;  /* without the last colon; empty: not printed */
	struct str rest;   /* after the event: payload or a frame, without blanks at the ends */
	size_t rest_width; /* blanks before rest and its first word: perf prints addresses 16 wide */
	int64_t pid, tid;  /* -1: not known */
	int64_t cpu;       /* -1: not printed */
	struct str cgroup; /* path; of perf.data only */
	uint64_t period;   /* 0: not printed */
	uint64_t count;    /* number of equal samples; 0: one */
	struct str time;   /* text, see header_time; empty: not printed */
	bool timed;        /* no text: ns is the time */
	uint64_t ns;
	uint64_t lost; /* HEADER_RECORD: number in PERF_RECORD_LOST*, else 0 */
};

/* Parses a line without its newline, and returns its kind. Lines that begin with a TAB are frames, never headers. *key
 * points into line. */
enum samplekey_kind samplekey_parse(struct str line, struct sample_key *key);

/* Parses "12.345678" (at most 9 decimals) to ns. Returns false for other text. */
bool samplekey_time(struct str string, uint64_t *ns);

/* Returns the time of a sample in *ns; false if it has none. Fewer than 6 decimals are microseconds without leading
 * zeros, as simpleperf prints them. */
bool samplekey_ns(const struct sample_key *key, uint64_t *ns);

/* Returns the part of the name that identifies an event: hybrid cpu_core/x/ and cpu_atom/x/ are one event, "x/". Points
 * into event. */
struct str samplekey_event_key(struct str event);

#endif
