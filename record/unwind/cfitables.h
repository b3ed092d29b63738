/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfitables.h - caches the unwind tables of all files whose code occurs in stacks, one table for each file and tenant,
 * and those of the trampolines of CPython (trampolines.h), one table for each 64 kB of a process's generated code.
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

/* Default limit of the bytes of all tables. */
#define CFITABLES_MOST ((size_t)40 << 20)

struct cfitables_options {
	const char *proc; /* directory of procfs: "/proc" */
	size_t max_bytes; /* limit of the bytes of all tables; 0: CFITABLES_MOST */
	unsigned hang_ms; /* time in ms after which helpers that neither run nor answer count as hung; 0: 2,000 */
};

/* Result of cfitables_find. */
enum cfitables_answer {
	CFITABLES_READY,
	CFITABLES_NONE, /* the code has no unwind table, or the table cannot be made */
	CFITABLES_WAIT, /* helpers are making the table: try again later */
	CFITABLES_LATE  /* helpers are still making the table, but samples must not wait any longer */
};

struct cfitables;

/* Forks the process that starts the helpers. The caller has dropped privileges before, and has no threads. *options is
 * copied, but not the string proc. The caller frees the result by cfitables_stop. */
struct cfitables *cfitables_start(const struct cfitables_options *options);
/* Ends the helpers and frees all tables. */
void cfitables_stop(struct cfitables *tables);

/* Limits the helpers' CPU time to TENANT_CPU_NS for each tenant from now on, except for root's processes on this host.
 * budgets must outlive tables. */
void cfitables_budgets(struct cfitables *tables, struct budgets *budgets);

/* Looks up the unwind table for the code of process at `address` in mapping, and requests the table if necessary. *code
 * is set if the result is CFITABLES_READY, and valid until the next cfitables_take or cfitables_tick. The index of the
 * entry is cached in mapping->file. Does not block. */
enum cfitables_answer cfitables_find(struct cfitables *tables, const struct process *process,
				     const struct mapping *mapping, uint64_t address, uint64_t now,
				     struct unwind_code *code);

/* cfitables_take takes the tables that helpers have made; it does not block. cfitables_fd returns a descriptor that
 * becomes readable when a helper has answered. */
void cfitables_take(struct cfitables *tables, uint64_t now);
int cfitables_fd(const struct cfitables *tables);

/* Frees tables that were unused for a minute or exceed the limit, and ends idle helpers. The caller calls it every few
 * seconds. */
void cfitables_tick(struct cfitables *tables, uint64_t now);

/* Counts of tables: tables and bytes are current values, the others are since the start. */
struct cfitables_counts {
	size_t tables, bytes;             /* number of entries with a table; bytes of memory of the tables */
	uint64_t made, none, gone, large; /* number of answers of each kind (enum cfimaker_answer) */
	/* number of tables that were freed to respect the limit of bytes */
	uint64_t evicted;
	struct helper_counts helpers;
};
/* Returns the counts of tables. */
struct cfitables_counts cfitables_count(const struct cfitables *tables);

#endif
