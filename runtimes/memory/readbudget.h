/* SPDX-License-Identifier: Apache-2.0 */
/*
 * readbudget.h - limits work, memory and time for reading the memory of one process (a JVM or another runtime).
 *
 * All data of a process may be hostile: endless lists, tables that cost 10^12 steps, a code cache of millions of blobs.
 * Each function that follows such data takes steps from the budget before it continues, and bytes before it allocates.
 * Reads of memory take steps by themselves (memory.c). Once a budget is exceeded it remains exceeded: every later read
 * fails, loops end, and `over` has the reason for the caller. The calls that take steps also check a flag that a signal
 * handler sets, so a tool ends soon in any case.
 *
 * A step is roughly 0.1 us. Steps, not times, decide if a process is read, so the same bytes give the same result on a
 * loaded machine; the deadline is for slow reads. The caller fills the budget by an assignment:
 *
 * struct readbudget budget = { .steps = 10 << 20, .bytes = 64 << 20, .stop = &stopped };
 * memory.budget = &budget;
 */
#ifndef PJ_READBUDGET_H
#define PJ_READBUDGET_H

#include "common/base.h"

#include <signal.h>

/* The limit that was exceeded; READBUDGET_LEFT (0) if none was. */
enum readbudget_limit { READBUDGET_LEFT, READBUDGET_STEPS, READBUDGET_BYTES, READBUDGET_TIME, READBUDGET_STOPPED };

struct readbudget {
	uint64_t steps;    /* number of steps that may still be taken */
	uint64_t bytes;    /* number of bytes of memory that may still be allocated */
	uint64_t deadline; /* time on the clock of clock_now(), in ns, at which reading ends; 0: none */
	/* Flag that a signal handler sets: reading ends if it is not 0. NULL: no flag. */
	const volatile sig_atomic_t *stop;
	/* number of steps taken since the last check of deadline and flag */
	uint64_t unchecked;
	enum readbudget_limit over; /* the limit that was exceeded first */
};

/* Checks deadline and flag, independently of steps. Returns false if a limit is exceeded, now or before. */
bool readbudget_check(struct readbudget *budget);

/* Takes steps from the budget; checks deadline and flag every 4096 steps. Returns false if a limit is exceeded, now
 * or before. A NULL budget has no limit. */
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

/* Takes bytes of memory from the budget, before an allocation. Returns false if a limit is exceeded, now or before.
 * A NULL budget has no limit. */
bool readbudget_bytes(struct readbudget *budget, uint64_t bytes);

/* Gives bytes of memory back to the budget after they were freed. */
void readbudget_return(struct readbudget *budget, uint64_t bytes);

#endif
