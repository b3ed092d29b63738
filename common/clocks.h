/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clocks.h - reads CLOCK_MONOTONIC, the wall clock and other clocks, and computes the borders of windows, in ns.
 *
 * Records and windows use CLOCK_MONOTONIC, which cannot be set, but which stands still while the machine is suspended.
 * CLOCK_BOOTTIME (clock_since_boot) continues during suspend; the kernel gives start times of processes in this clock.
 */
#ifndef PJ_CLOCKS_H
#define PJ_CLOCKS_H

#include "common/base.h"

#define SECOND_NS UINT64_C(1000000000)

uint64_t clock_now(void);
uint64_t clock_wall(void);
uint64_t clock_since_boot(void);
uint64_t clock_now_ms(void);
/* Returns the CPU time of the calling thread in ns. */
uint64_t clock_thread_cpu(void);

/* Converts `ns`, a time of CLOCK_MONOTONIC, to the wall time in ns since 1970, by the present difference between both
 * clocks. */
uint64_t clock_wall_of(uint64_t ns);

/* Returns the time of CLOCK_MONOTONIC at which the wall clock next reaches a multiple of window_ns. `now` and `wall`
 * are the present times of both clocks. All are in ns; window_ns is not 0. Pure. */
uint64_t clock_next(uint64_t now, uint64_t wall, uint64_t window_ns);

/* Returns the end of a window that begins at `begin` (CLOCK_MONOTONIC, ns) and `wall` (wall time, ns). Without align,
 * the window is window_ns long. With align, it ends when the wall clock reaches a multiple of window_ns, the one
 * closest to begin + window_ns: so windows return to these multiples after a window that began between two of them, as
 * after a change of the wall clock. Returns UINT64_MAX (no end) if window_ns is 0. Pure. */
uint64_t clock_border(uint64_t begin, uint64_t wall, uint64_t window_ns, bool align);

#endif
