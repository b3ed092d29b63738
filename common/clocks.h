/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clocks.h - the clock of the records, CLOCK_MONOTONIC, and the wall clock, in ns.
 *
 * Windows begin and end by CLOCK_MONOTONIC, which is never set. CLOCK_MONOTONIC stands still while the machine is
 * suspended. The clock since boot, on which start times of processes are, continues.
 */
#ifndef PJ_CLOCKS_H
#define PJ_CLOCKS_H

#include "common/base.h"

#define SECOND_NS UINT64_C(1000000000)

uint64_t clock_now(void);
uint64_t clock_wall(void);
uint64_t clock_since_boot(void);
uint64_t clock_now_ms(void);
/* Returns the CPU time of the calling thread. */
uint64_t clock_thread_cpu(void);

/* Converts a time of CLOCK_MONOTONIC, in ns, to wall time, by the present difference of the two clocks. */
uint64_t clock_wall_of(uint64_t ns);

/* Returns the time of CLOCK_MONOTONIC at which the wall clock next reaches a multiple of window_ns, after now. wall is
 * the wall time of now; all are in ns. Pure. */
uint64_t clock_next(uint64_t now, uint64_t wall, uint64_t window_ns);

/* Returns the end of a window that begins at `begin` (CLOCK_MONOTONIC, ns). Without align, this is window_ns later;
 * with align, it is the multiple of window_ns on the wall clock that is closest to that time. Reason: `wall`, the wall
 * time of begin, may be no exact multiple, and the clock may have been set. Returns UINT64_MAX (no end) if window_ns is
 * 0. Pure. */
uint64_t clock_border(uint64_t begin, uint64_t wall, uint64_t window_ns, bool align);

#endif
