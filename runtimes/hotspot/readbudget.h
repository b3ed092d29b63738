/* SPDX-License-Identifier: Apache-2.0 */
/*
 * readbudget.h - limits work, memory and time for reading one JVM.
 *
 * All data of a JVM may be hostile: endless lists, tables that cost 10^12 steps, a code cache of millions of blobs.
 * Each function that follows such data takes steps from the budget before it continues, and bytes before it allocates.
 * Reads of memory take steps by themselves (memory.c). Once a budget is exceeded it remains exceeded: every later read
 * fails, loops end, and the caller finds the reason in `over`. The same calls check a flag that a signal handler sets,
 * so a tool ends soon whatever it reads.
 *
 * A step is roughly 0.1 us. Steps, not times, decide if a JVM is read, so the same bytes give the same result on a
 * loaded machine; the deadline is for slow reads. The caller fills the budget by an assignment:
 *
 * struct readbudget budget = { .steps = 10 << 20, .bytes = 64 << 20, .stop = &stopped };
 * hotspot_open_within(&hotspot, &process, &budget);
 */
#ifndef PJ_READBUDGET_H
#define PJ_READBUDGET_H

#include "common/base.h"

#include <signal.h>

/* Limits that can be exceeded. READBUDGET_LEFT (0): none of them. */
enum readbudget_limit { READBUDGET_LEFT, READBUDGET_STEPS, READBUDGET_BYTES, READBUDGET_TIME, READBUDGET_STOPPED };

struct readbudget {
	uint64_t steps;    /* steps that are left */
	uint64_t bytes;    /* bytes of memory that are left */
	uint64_t deadline; /* time of clock_now(), in ns; 0: none */
	/* Flag of a signal handler: reading ends if it is not 0. NULL: none. */
	const volatile sig_atomic_t *stop;
	/* steps since the last check of clock and flag */
	uint64_t unchecked;
	enum readbudget_limit over; /* the limit that was exceeded first */
};

/* Checks the clock and the flag. Returns false if the budget is exceeded. */
bool readbudget_check(struct readbudget *budget);

/* Takes steps; every 4096 steps it checks the clock and the flag. Returns false if the budget is exceeded, now or
 * before. A NULL budget has no limit. */
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

/* Takes bytes before an allocation. Returns false if the budget is exceeded, now or before. */
bool readbudget_bytes(struct readbudget *budget, uint64_t bytes);

/* Returns bytes to the budget after memory is freed. */
void readbudget_return(struct readbudget *budget, uint64_t bytes);

/* Returns "steps", "memory" or "time", or NULL if no limit is exceeded. A stop by the flag counts as "time". */
const char *readbudget_limit_name(const struct readbudget *budget);

#endif
