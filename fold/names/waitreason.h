/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waitreason.h - leaf frames of a wall-clock profile; for a wait, the reason by the kernel functions of its stack.
 *
 * A table has the kernel functions in which threads sleep; the innermost function of a stack that is in the table gives
 * the reason. The search ends at the first frame that is not a kernel function, and at the entry of an exception: the
 * code that an exception interrupted does not wait. It also ends at the first frames of a stack, because they are names
 * of processes and threads, which a user chooses. pjfold(1) has the table.
 */
#ifndef PJ_WAITREASON_H
#define PJ_WAITREASON_H

#include "common/stacks.h"
#include "fold/names/names.h"

/* Returns the leaf frame that stacks of an event of a wall-clock profile get: "[blocked]", "[preempted]" or "[on CPU,
 * not sampled]"; empty for any other event. */
struct str waitreason_leaf(struct str event);

/* Returns true for a leaf frame of times off the CPU: "[blocked]", with or without a reason, or "[preempted]"; false
 * for all other frames. */
bool waitreason_is_wait(struct str leaf);

/* Returns the leaf frame for a wait, such as "[blocked: futex]"; "[blocked]" if the stack has no function of the table.
 * node: innermost named frame of the stack. first: node of the innermost of the stack's first frames (names of
 * processes and threads), at which the search ends; 0: none. */
struct str waitreason_of(const struct stacks *stacks, uint32_t node, uint32_t first);

#endif
