/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waitreason.h - the leaf frame of a wait in a wall-clock profile, by the kernel's functions of its stack.
 *
 * The functions are those of the kernel in which a thread sleeps: the innermost function of the table decides. The
 * search ends at the first frame that is not one of the kernel, and at the entry of an exception, since what the
 * exception interrupted does not wait. It ends at the first frames of a stack, too: they are names of processes
 * and threads, which a user chooses. pjfold(1) has the table.
 */
#ifndef PJ_WAITREASON_H
#define PJ_WAITREASON_H

#include "common/stacks.h"
#include "fold/names/names.h"

/* Returns the leaf frame that an event of a wall-clock profile adds to its stacks: "[blocked]", "[preempted]" or
 * "[on CPU, not sampled]"; empty for any other event. */
struct str waitreason_leaf(struct str event);

/* Returns the leaf frame for a wait whose stack ends at `node`, the innermost named frame: "[blocked: futex]" and the
 * like; "[blocked]" if no function of the table is in it. first: node of the innermost first frame, 0 if there is none.
 */
struct str waitreason_of(const struct stacks *stacks, uint32_t node, uint32_t first);

#endif
