/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jitdump.h - names of JIT code from a jitdump file, by address and time.
 *
 * A jitdump (tools/perf/Documentation/jitdump-specification.txt) records when code was loaded, moved and unloaded, so
 * that an address gets the name that was valid at the time of the sample. The clocks of jitdump and recording must be
 * the same (CLOCK_MONOTONIC); the caller checks this. Records are hostile input.
 *
 *     dump = jitdump_open(fd, &why);
 *     code = jitdump_find(dump, address, time);
 */
#ifndef PJ_JITDUMP_H
#define PJ_JITDUMP_H

#include "fold/jvm/jitcode.h"

struct jitdump;

/* Reads the complete file. fd is closed in any case. Returns NULL if it is not a readable jitdump, with the reason in
 * *why, a static text. */
struct jitdump *jitdump_open(int fd, const char **why);
/* Returns the pid in the header. */
uint32_t jitdump_pid(const struct jitdump *jitdump);
/* True if the times are TSC values, not CLOCK_MONOTONIC. */
bool jitdump_arch_clock(const struct jitdump *jitdump);

/* Returns the code that was at `address` at `time` (0: the latest); NULL if there was none. Costs O(log n). The result
 * is valid until jitdump_close(). */
const struct jit_code *jitdump_find(const struct jitdump *jitdump, uint64_t address, uint64_t time);
/* Returns the number of invalid records, which are skipped. Sets *why to the reason for the first one, a static text,
 * or to NULL. */
uint64_t jitdump_bad(const struct jitdump *jitdump, const char **why);
/* Returns the offset in the file of the first invalid record. */
uint64_t jitdump_first_bad(const struct jitdump *jitdump);
/* Returns the number of all loads and moves of code, including code that was replaced later. */
size_t jitdump_count(const struct jitdump *jitdump);
/* Frees the jitdump and all that jitdump_find() returned; accepts NULL. */
void jitdump_close(struct jitdump *jitdump);

#endif
