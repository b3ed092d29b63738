/* SPDX-License-Identifier: Apache-2.0 */
/*
 * livecopy.h - makes a threadcopy by a plan through struct memory: for proofs of a layout, and for stopped processes.
 *
 * The memory of a running thread changes meanwhile: only record/syncread copies at the moment of a sample.
 */
#ifndef PJ_LIVECOPY_H
#define PJ_LIVECOPY_H

#include "runtimes/memory/memory.h"
#include "runtimes/threadcopy.h"

/* Follows the plan from root (threadcopy_follow). *copy has `cap` bytes behind it; its tid and times become 0. */
void livecopy_read(struct memory *memory, const struct threadplan *plan, uint64_t root, struct threadcopy *copy,
		   size_t cap);

#endif
