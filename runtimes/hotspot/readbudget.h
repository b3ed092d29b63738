/* SPDX-License-Identifier: Apache-2.0 */
/*
 * readbudget.h - how much work, memory and time may be spent on one JVM until the budget is filled again.
 *
 * All that is read of a JVM may be hostile: lists that never end, tables that cost 10^12 steps, a code cache of
 * millions of blobs. So each function that follows such data takes steps from the budget before it goes on, and bytes
 * before it allocates. Reads of memory take steps by themselves (memory.c). Once a budget is exceeded it stays so:
 * every later read fails, loops end, and the caller sees the reason here. The same calls look at a flag that a signal
 * handler sets, so a tool ends soon whatever it is reading.
 *
 * A step is roughly 0.1 us. Steps, not times, decide whether a JVM is read, so the same bytes give the same result on a
 * loaded machine; the deadline is for reads that are slow.
 */
#ifndef PJ_READBUDGET_H
#define PJ_READBUDGET_H

#include "common/base.h"

#include <signal.h>

enum budget_limit { BUDGET_LEFT, BUDGET_STEPS, BUDGET_BYTES, BUDGET_TIME, BUDGET_STOPPED };

struct budget {
	uint64_t steps;                    /* left */
	uint64_t bytes;                    /* of memory, left */
	uint64_t deadline;                 /* as clock_now(); 0: none */
	const volatile sig_atomic_t *stop; /* not 0: end; NULL: nothing asks to end */
	uint64_t unchecked;                /* steps since the clock and the flag were read */
	enum budget_limit over;            /* which limit was exceeded first */
};

/* Reads the clock and the flag. False: exceeded. */
bool budget_check(struct budget *budget);

/* Takes steps. False: exceeded, now or before. A budget of NULL has no limit. */
static inline bool budget_steps(struct budget *budget, uint64_t steps)
{
	if (!budget)
		return true;
	if (budget->over)
		return false;
	if (steps > budget->steps) {
		budget->over = BUDGET_STEPS;
		return false;
	}
	budget->steps -= steps;
	budget->unchecked += steps;
	return budget->unchecked < 4096 || budget_check(budget);
}

/* Takes bytes that will be allocated. False: exceeded, now or before. */
bool budget_bytes(struct budget *budget, uint64_t bytes);

/* Gives back bytes that were taken and are free again. */
void budget_return(struct budget *budget, uint64_t bytes);

/* "steps", "memory", "time", or NULL: nothing was exceeded. */
const char *budget_limit_name(const struct budget *budget);

#endif
