/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfitables.h - the tables for unwinding of all files whose code was met on a stack, once for each file and tenant.
 *
 * Helper processes of the tenant make them (cfihelpers.h) when its first sample in code of the file comes; until then
 * the answer is to wait, but never for longer than a second, and not at all while these helpers hang. A table is used
 * for the tenant whose helpers made it: a file of another tenant may have taken over the others. Tables of one file
 * with the same bytes take memory once. Tables that nobody used for a while, and beyond TABLES_MOST those that nobody
 * used for longest, are let go: they come back when they are needed.
 */
#ifndef PJ_CFITABLES_H
#define PJ_CFITABLES_H

#include "common/process/backoff.h"
#include "record/processes/budgets.h"
#include "record/processes/processes.h"
#include "unwind/dwarf/cfiunwind.h"

#define CFITABLES_MOST ((size_t)40 << 20) /* bytes */

struct cfitables_options {
	const char *proc; /* /proc */
	size_t max_bytes; /* 0: TABLES_MOST */
	unsigned hang_ms; /* helpers that do not run and do not answer for so long hang; 0: 2,000 */
};

enum cfitables_answer {
	CFITABLES_READY,
	CFITABLES_NONE, /* this code has no tables, or they cannot be had */
	CFITABLES_WAIT, /* they are being made */
	CFITABLES_LATE  /* they are being made, and it is too late to wait */
};

struct cfitables;

/* Forks. To be called after privileges are dropped. */
struct cfitables *cfitables_start(const struct cfitables_options *options);
void cfitables_stop(struct cfitables *tables);

/* From here on CPU time is limited by TENANT_CPU_NS, but for files of root on this host. */
void cfitables_budgets(struct cfitables *tables, struct budgets *budgets);

/* What is known of the code of process at mapping. code is filled in when READY, for `address`. Valid until tables_take
 * or tables_tick. */
enum cfitables_answer cfitables_find(struct cfitables *tables, const struct process *process,
				     const struct mapping *mapping, uint64_t address, uint64_t now,
				     struct unwind_code *code);

/* Takes what was made. Waits for nothing; tables_fd becomes readable when there is something. -1: never. */
void cfitables_take(struct cfitables *tables, uint64_t now);
int cfitables_fd(const struct cfitables *tables);

/* Looks after memory and the process; every few seconds. */
void cfitables_tick(struct cfitables *tables, uint64_t now);

struct cfitables_counts {
	size_t tables, bytes;             /* now */
	uint64_t made, none, gone, large; /* answers */
	uint64_t evicted;
	struct helper_counts helpers;
};
struct cfitables_counts cfitables_count(const struct cfitables *tables);

#endif
