/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jitdump.h - names of code that was compiled at run time, with the time from which they hold.
 *
 * A jitdump (tools/perf/Documentation/jitdump-specification.txt) tells when code was loaded, moved and unloaded, so an
 * address gets the name that was valid at the time of the sample. Clocks must match (CLOCK_MONOTONIC); the caller
 * checks. Records are hostile input.
 */
#ifndef PJ_JITDUMP_H
#define PJ_JITDUMP_H

#include "common/str.h"

struct jitdump;

struct jitdump_code {
	uint64_t start, size;
	uint64_t from;      /* time in ns at which it begins to hold */
	uint64_t index;     /* of the code, as the JIT counts */
	struct str name;    /* lives as long as the jitdump */
	struct str inlined; /* calls that were inlined here, outermost first, NUL between; of timelines only */
	struct str unwind;  /* .eh_frame of it, or empty */
	uint32_t line;      /* of the first debug entry, 0: none; file */
	struct str file;
};

/* Reads all of fd (a regular file); NULL and *why. Takes fd over. */
struct jitdump *jitdump_open(int fd, const char **why);
uint32_t jitdump_pid(const struct jitdump *jitdump);
bool jitdump_arch_clock(const struct jitdump *jitdump); /* times are TSC, not CLOCK_MONOTONIC */

/* The code at address at that time (0: the newest); NULL: none. O(log n). */
const struct jitdump_code *jitdump_find(const struct jitdump *jitdump, uint64_t address, uint64_t time);
uint64_t jitdump_bad(const struct jitdump *jitdump, const char **why); /* records that were skipped */
uint64_t jitdump_first_bad(const struct jitdump *jitdump);             /* where in the file the first of these begins */
size_t jitdump_count(const struct jitdump *jitdump);                   /* codes, those that were replaced included */
void jitdump_close(struct jitdump *jitdump);

#endif
