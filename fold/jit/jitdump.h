/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jitdump.h - finds names of JIT code in a jitdump file, by address and time.
 *
 * A jitdump (tools/perf/Documentation/jitdump-specification.txt) records when code was loaded and moved, so that an
 * address gets the name that was valid at the time of the sample. A CODE_CLOSE record marks the end of a runtime: from
 * its time on, code that was loaded before has no name, because other code may be at its addresses. The caller checks
 * that jitdump and recording use the same clock (CLOCK_MONOTONIC). Records are hostile input.
 *
 *     dump = jitdump_open(fd, &why);
 *     code = jitdump_find(dump, address, time);
 */
#ifndef PJ_JITDUMP_H
#define PJ_JITDUMP_H

#include "fold/jvm/jitcode.h"

struct jitdump;

/* Reads all of the jitdump fd, and closes fd in any case. Returns NULL if the file is not a readable jitdump, with the
 * reason in *why, a static text. */
struct jitdump *jitdump_open(int fd, const char **why);
/* Returns the pid in the header of the jitdump. */
uint32_t jitdump_pid(const struct jitdump *jitdump);
/* Returns true if the times in the jitdump are TSC values; false if they are ns of CLOCK_MONOTONIC. */
bool jitdump_arch_clock(const struct jitdump *jitdump);

/* Returns the code that was at the virtual address `address` at `time` (ns; 0: the latest code, also of a runtime that
 * ended); NULL if there was none. The result is valid until jitdump_close(). The time for a lookup grows with the
 * square of the logarithm of the number of events. */
const struct jit_code *jitdump_find(const struct jitdump *jitdump, uint64_t address, uint64_t time);
/* Returns the number of invalid records, which are skipped. Sets *why to the error of the first invalid record, a
 * static text; NULL if no record is invalid. */
uint64_t jitdump_bad(const struct jitdump *jitdump, const char **why);
/* Returns the file offset of the first invalid record; 0 if no record is invalid. */
uint64_t jitdump_first_bad(const struct jitdump *jitdump);
/* Returns the number of loads and moves of code in the file, including code that was replaced later. */
size_t jitdump_count(const struct jitdump *jitdump);
/* Frees the jitdump and all results of jitdump_find(). Accepts NULL. */
void jitdump_close(struct jitdump *jitdump);

#endif
