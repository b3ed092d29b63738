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

enum readbudget_limit { READBUDGET_LEFT, READBUDGET_STEPS, READBUDGET_BYTES, READBUDGET_TIME, READBUDGET_STOPPED };

struct readbudget {
	uint64_t steps;                    /* left */
	uint64_t bytes;                    /* of memory, left */
	uint64_t deadline;                 /* as clock_now(); 0: none */
	const volatile sig_atomic_t *stop; /* not 0: end; NULL: nothing asks to end */
	uint64_t unchecked;                /* steps since the clock and the flag were read */
	enum readbudget_limit over;        /* which limit was exceeded first */
};

/* Reads the clock and the flag. False: exceeded. */
bool readbudget_check(struct readbudget *budget);

/* Takes steps. False: exceeded, now or before. A budget of NULL has no limit. */
static inline bool budget_steps(struct readbudget *budget, uint64_t steps)
{
	if (!budget)
		return true;
	if (budget->over)
		return false;
	if (steps > budget->steps) {
		budget->over = READBUDGET_STEPS;
		return false;
	}
	budget->steps -= steps;
	budget->unchecked += steps;
	return budget->unchecked < 4096 || readbudget_check(budget);
}

/* Takes bytes that will be allocated. False: exceeded, now or before. */
bool readbudget_bytes(struct readbudget *budget, uint64_t bytes);

/* Gives back bytes that were taken and are free again. */
void readbudget_return(struct readbudget *budget, uint64_t bytes);

/* "steps", "memory", "time", or NULL: nothing was exceeded. */
const char *readbudget_limit_name(const struct readbudget *budget);

#endif
