/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfitables.h - caches the unwind tables of all files whose code occurs in stacks, one table for each file and tenant,
 * and the tables of CPython's trampolines (trampolines.h), one for each 64 kB of a process's generated code.
 *
 * Helper processes of the tenant make a table (cfihelpers.h) when the first sample in code of the file arrives. Until
 * the table is ready, cfitables_find returns CFITABLES_WAIT, for at most a second; after that, or if the helpers do not
 * reply, it returns CFITABLES_LATE. A table is used only for the tenant whose helpers made it, because a hostile file
 * may have taken over the helpers. Equal tables of one file are stored once. Tables that were unused for a minute are
 * freed, and so are the least recently used ones beyond CFITABLES_MOST bytes. Freed tables are made again when they are
 * needed.
 *
 * All functions but cfitables_start_interphelper are called by one thread. Times are clock_now(), in ns.
 */
#ifndef PJ_CFITABLES_H
#define PJ_CFITABLES_H

#include "common/process/backoff.h"
#include "record/processes/budgets.h"
#include "record/processes/processes.h"
#include "unwind/dwarf/cfiunwind.h"

/* Default limit of the bytes of all tables together; beyond it the least recently used tables are freed. */
#define CFITABLES_MOST ((size_t)40 << 20)

struct cfitables_options {
	const char *proc; /* directory of procfs: "/proc" */
	/* limit of the bytes of all tables together, beyond which tables are freed; 0: CFITABLES_MOST */
	size_t max_bytes;
	/* ms without reply and without CPU use after which helpers count as hung and are replaced; 0: 2,000 */
	unsigned hang_ms;
};

/* Result of cfitables_find. */
enum cfitables_answer {
	/* *code is set to the table of the code */
	CFITABLES_READY,
	CFITABLES_NONE, /* the code has no unwind table, or the table cannot be made */
	CFITABLES_WAIT, /* helpers are making the table; call again later */
	CFITABLES_LATE  /* helpers are still making the table, but samples must not wait for it any longer */
};

struct cfitables;

/* Forks the process that starts the helpers. The caller must have dropped privileges and must have no threads. Copies
 * *options, but not the string options->proc. Returns the cache, which cfitables_stop frees; never NULL. */
struct cfitables *cfitables_start(const struct cfitables_options *options);
/* Ends the helpers and frees `tables` with all tables. */
void cfitables_stop(struct cfitables *tables);

/* Starts a helper process for interpreters, without a copy of the recorder's memory (cfistarter.h), and returns its
 * pid; 0 on failure. Any thread may call it. */
pid_t cfitables_start_interphelper(struct cfitables *tables, int socket, int memory);

/* From now on, limits the CPU time that helpers use for each tenant to the budget TENANT_CPU_NS. Over budget, a
 * tenant's code without a table gets none (CFITABLES_NONE). Root's processes on this host have no limit. budgets must
 * outlive tables. */
void cfitables_budgets(struct cfitables *tables, struct budgets *budgets);

/* Looks up the unwind table for the code at the virtual address `address` of a process, in `mapping`, and requests the
 * table if necessary. Sets *code if the result is CFITABLES_READY; it is valid until the next cfitables_take or
 * cfitables_tick. Caches the index of the table's entry in mapping->file->table. Does not wait for the table, but may
 * wait for the start of helpers (cfihelpers_query) and for the tenant of the process (taskwait.h). */
enum cfitables_answer cfitables_find(struct cfitables *tables, const struct process *process,
				     const struct mapping *mapping, uint64_t address, uint64_t now,
				     struct unwind_code *code);

/* cfitables_take receives the tables that helpers have made, without blocking. cfitables_fd returns a descriptor that
 * is readable when cfitables_take has work. */
void cfitables_take(struct cfitables *tables, uint64_t now);
int cfitables_fd(const struct cfitables *tables);

/* Frees tables that were unused for a minute or have reached their limit of rows, and the least recently used ones over
 * the limit of bytes. Ends idle helpers. Call it every few seconds. */
void cfitables_tick(struct cfitables *tables, uint64_t now);

/* Counts of tables. Members `tables` and `bytes` are current values; the other members are counts since the start. */
struct cfitables_counts {
	size_t tables, bytes;             /* number of entries with a table; bytes of memory of all tables */
	uint64_t made, none, gone, large; /* number of replies of each kind (enum cfimaker_answer) */
	/* number of tables that were freed to keep the limit of bytes */
	uint64_t evicted;
	struct helper_counts helpers;
};
/* Returns the counts of tables. */
struct cfitables_counts cfitables_count(const struct cfitables *tables);

#endif
