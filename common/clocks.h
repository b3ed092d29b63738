/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clocks.h - the clock of the records, CLOCK_MONOTONIC, and the wall clock, in ns.
 *
 * Windows begin and end by CLOCK_MONOTONIC, which is never set. It stands still while the machine is suspended; the
 * clock since boot, on which start times of processes are, does not.
 */
#ifndef PJ_CLOCKS_H
#define PJ_CLOCKS_H

#include "common/base.h"

#define SECOND_NS UINT64_C(1000000000)

uint64_t clock_now(void);
uint64_t clock_wall(void);
uint64_t clock_since_boot(void);
uint64_t clock_now_ms(void);

/* Returns the wall time of a time of CLOCK_MONOTONIC, by the present difference of the two clocks. */
uint64_t clock_wall_of(uint64_t ns);

/* Returns the next multiple of window_ns on the wall clock after now, as a time of CLOCK_MONOTONIC; wall is the wall
 * time of now. Pure. */
uint64_t clock_next(uint64_t now, uint64_t wall, uint64_t window_ns);

/* Returns the end of a window that begins at `begin`: window_ns later, or with align at the multiple of it on the wall
 * clock that is closest to that: wall, begin's wall time, is only nearly a multiple itself, and the clock may have been
 * set. window_ns 0: never. Pure. */
uint64_t clock_border(uint64_t begin, uint64_t wall, uint64_t window_ns, bool align);

#endif
