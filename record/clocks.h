/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clocks.h - the clock of the records, CLOCK_MONOTONIC, and that on the wall; in ns.
 *
 * Windows are cut on the first, which is never set. It stands still while the machine is suspended.
 */
#ifndef PJ_CLOCKS_H
#define PJ_CLOCKS_H

#include "base.h"

#define SECOND_NS UINT64_C(1000000000)

uint64_t clock_now(void);
uint64_t clock_wall(void);

/* Wall time of a moment of the other clock, as things stand now. */
uint64_t clock_wall_of(uint64_t ns);

/* Where a window that begins at `begin` ends: window_ns later, or with align at the next multiple of it on the wall clock; wall is
 * begin's wall time. window_ns 0: never. Pure. */
uint64_t clock_border(uint64_t begin, uint64_t wall, uint64_t window_ns, bool align);

#endif
