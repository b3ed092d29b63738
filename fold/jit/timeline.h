/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline.h - which code of a JVM was at an address at a moment, from what pjmap wrote (pj-jmap(5)).
 *
 * A scan saw a piece of code, the one before it did not: it came between. So of each piece there are times at which
 * it certainly was there, and some
 * before and behind at which it may have been. Answers say which; certain ones win. The file is hostile input.
 */
#ifndef PJ_TIMELINE_H
#define PJ_TIMELINE_H

#include "fold/jit/frametimes.h"
#include "fold/jit/jitdump.h"

struct timeline;

enum timeline_sure {
	TIMELINE_NONE,
	TIMELINE_SURE,
	TIMELINE_LIKELY,    /* between two scans of which one saw it, and nothing else */
	TIMELINE_AMBIGUOUS, /* two pieces may have been there; the later one is given */
};

/* Reads all of fd (a plain file), which it takes; NULL and *why. */
struct timeline *timeline_open(int fd, const char **why);
void timeline_close(struct timeline *timeline);

/* Where the first record that was not understood begins; 0: all were. What is before it is used. */
uint64_t timeline_bad(const struct timeline *timeline, const char **why);

/* Pieces of code that pjmap could not read or name, in the scan with the most of them. */
uint64_t timeline_left_out(const struct timeline *timeline);

/* The code at address at that time (0: the newest), with the calls that were inlined at that address. Lives as long as
 * timeline. */
const struct jitdump_code *timeline_find(struct timeline *timeline, uint64_t address, uint64_t time,
					 enum timeline_sure *sure);
/* What stacks are walked through its code by; NULL: nothing is told. Lives as long as timeline. */
struct frametimes *timeline_frames(struct timeline *timeline);

size_t timeline_count(const struct timeline *timeline);

/* Of bytes; pure. The bytes are copied where they are kept. */
struct timeline *timeline_parse(struct str bytes, const char **why);

#endif
