/* SPDX-License-Identifier: Apache-2.0 */
/*
 * livecopy.h - makes a threadcopy from live memory, by a plan, through struct memory. Used to prove a layout, and for
 * stopped processes.
 *
 * A running thread changes its memory while livecopy_read reads it, so such a copy may be inconsistent: only
 * record/syncread copies at the moment of a sample.
 */
#ifndef PJ_LIVECOPY_H
#define PJ_LIVECOPY_H

#include "runtimes/memory/memory.h"
#include "runtimes/threadcopy.h"

/* Follows the plan from `root` into *copy (threadcopy_follow). *copy must be followed by cap bytes. Sets pid, tid
 * and times of *copy to 0. */
void livecopy_read(struct memory *memory, const struct threadplan *plan, uint64_t root, struct threadcopy *copy,
		   size_t cap);

#endif
