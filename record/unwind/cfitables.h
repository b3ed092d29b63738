/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfitables.h - caches the unwind tables of all files whose code occurs in stacks, one table for each file and tenant.
 *
 * Helper processes of the tenant make a table (cfihelpers.h) when the first sample in code of the file comes. Until it
 * is ready cfitables_find returns CFITABLES_WAIT, but not longer than a second, and not while these helpers hang. A
 * table is used only for the tenant whose helpers made it, because a hostile file may have taken over the helpers.
 * Tables of one file with equal bytes are stored once. Tables without use for a minute, and the least recently used
 * ones beyond CFITABLES_MOST bytes, are freed; they are made again when they are needed.
 *
 * All functions are called by one thread. Times are clock_now(), in ns.
 */
#ifndef PJ_CFITABLES_H
#define PJ_CFITABLES_H

#include "common/process/backoff.h"
#include "record/processes/budgets.h"
#include "record/processes/processes.h"
#include "unwind/dwarf/cfiunwind.h"

/* Default limit for the bytes of all tables. */
#define CFITABLES_MOST ((size_t)40 << 20)

struct cfitables_options {
	const char *proc; /* "/proc" */
	size_t max_bytes; /* limit in bytes; 0: CFITABLES_MOST */
	unsigned hang_ms; /* time after which helpers that neither run nor answer hang; 0: 2,000 */
};

/* Result of a lookup. */
enum cfitables_answer {
	CFITABLES_READY,
	CFITABLES_NONE, /* the code has no table, or it is not available */
	CFITABLES_WAIT, /* the table is in the making: try again later */
	CFITABLES_LATE  /* the table is in the making, but the time to wait is over */
};

struct cfitables;

/* Forks the starter of the helpers. The caller has dropped privileges before, and has no threads. *options is
 * copied, but not proc. cfitables_stop frees the result. */
struct cfitables *cfitables_start(const struct cfitables_options *options);
/* Ends the helpers and frees all tables. */
void cfitables_stop(struct cfitables *tables);

/* Limits the helpers' CPU time to TENANT_CPU_NS for each tenant from now on, except for files of root on this host.
 * budgets must outlive tables. */
void cfitables_budgets(struct cfitables *tables, struct budgets *budgets);

/* Looks up the table of the code of process at `address` in mapping, and requests it if necessary. *code is filled
 * for CFITABLES_READY, and valid until the next cfitables_take or cfitables_tick. Caches its entry in mapping->file.
 * Does not block. */
enum cfitables_answer cfitables_find(struct cfitables *tables, const struct process *process,
				     const struct mapping *mapping, uint64_t address, uint64_t now,
				     struct unwind_code *code);

/* Takes the tables that helpers have made. Does not block. cfitables_fd returns a descriptor that becomes readable
 * when a helper has answered. */
void cfitables_take(struct cfitables *tables, uint64_t now);
int cfitables_fd(const struct cfitables *tables);

/* Frees tables and ends idle helpers. The caller calls it every few seconds. */
void cfitables_tick(struct cfitables *tables, uint64_t now);

/* Counters: the first line is the present state, the others are since the start. */
struct cfitables_counts {
	size_t tables, bytes;             /* tables and their bytes of memory now */
	uint64_t made, none, gone, large; /* answers by kind (enum cfimaker_answer) */
	/* tables that were freed for lack of space */
	uint64_t evicted;
	struct helper_counts helpers;
};
/* Returns the counters. */
struct cfitables_counts cfitables_count(const struct cfitables *tables);

#endif
