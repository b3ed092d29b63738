/* SPDX-License-Identifier: Apache-2.0 */
/*
 * processes.h - table of processes and threads with their names and mappings, updated by side-band records.
 *
 * Each window receives from it the state of only those processes that were sampled. Forks share their parent's
 * mappings until one of them maps something. Ended processes stay for a while, since samples of do_exit come after
 * the EXIT record. Over months, memory depends on what lives now: names of files are reference-counted. The module
 * does no I/O, and no function fails.
 */
#ifndef PJ_PROCESSES_H
#define PJ_PROCESSES_H

#include "record/processes/mappings.h"

#include <sys/types.h>

#define COMM_MAX 16 /* TASK_COMM_LEN */

/* A process. "Window" is the serial + 1 of a window, 0 for none; times are ns of CLOCK_MONOTONIC. */
struct process {
	struct link link;
	/* inner_pid: pid in its own PID namespace, 0 while unknown */
	uint32_t pid, inner_pid;
	/* field 22 of /proc/PID/stat; 0 if unknown */
	uint64_t start_ticks;
	/* inode of its mount namespace; 0 if unknown */
	uint64_t mount_ns;
	/* hash of the latest NAMESPACES record; 0 if there was none */
	uint64_t namespaces;
	/* valid if tenant_window is not 0, the window in which it was looked up */
	struct tenant tenant;
	uint64_t tenant_window;
	/* it called exec or entered namespaces since its tenant was looked up */
	bool changed;
	/* NULL if it has none */
	struct mappings *maps;
	/* latest window that holds its state */
	uint64_t window;
	/* time of its end, 0 while it lives */
	uint64_t exited;
	/* number of threads that have not ended */
	uint32_t live;
	/* it, or one of its ancestors, is a target of -p */
	bool target;
	/* requested from procreader.h, and not answered yet */
	bool requested;
	/* time of its fork or last exec, 0 if not recorded */
	uint64_t since;
	/* losses of records before this time do not affect its state */
	uint64_t sure;
	/* ns of CPU time that its tenant paid in advance for the requested reading */
	uint64_t reserved;
	/* time of the earliest next reading, and least ns between readings */
	uint64_t retry, pause;
	/* records of mappings, names and namespaces since its last exec */
	uint32_t records;
	/* its mappings are unknown, since records were skipped */
	bool stale;
	/* records are skipped until this time; 0 outside of a storm */
	uint64_t storm;
	/* records skipped in the current second of the storm */
	uint32_t skipped;
	struct process_given { /* ids of the mappings that the open window has, as a hash set */
		uint64_t window;
		uint64_t *id; /* 0 marks a free slot */
		uint32_t n, cap;
	} given;
};

/* A thread, with the latest window that has its name and the time of its end. */
struct thread {
	struct link link;
	uint32_t pid, tid;
	char comm[COMM_MAX];
	uint64_t window, exited;
	/* time of its fork, 0 if not recorded */
	uint64_t made;
	/* latest thread scan that found it */
	uint32_t scan;
	bool named; /* comm is known */
};

struct processes;

/* Returns an empty table. Memory for mappings is charged to tenants, which may be NULL. */
struct processes *processes_new(struct tenants *tenants);
/* Frees the table and all mappings. Accepts NULL. */
void processes_free(struct processes *processes);

/* Return the process or thread with that id, or NULL if it is unknown. */
struct process *processes_find(const struct processes *processes, uint32_t pid);
struct thread *processes_thread(const struct processes *processes, uint32_t tid);
/* Return the process or thread with that id; add it if it is unknown. */
struct process *processes_make(struct processes *processes, uint32_t pid);
struct thread *processes_make_thread(struct processes *processes, uint32_t pid, uint32_t tid);

/* Sets the time of the next record, in ns. New processes and threads are
 * given it as the time of their start. */
void processes_time(struct processes *processes, uint64_t ns);

/* Apply side-band records. Unknown parents and threads are added. A fork with a known pid or tid replaces the old
 * process or thread, whose end was not recorded. */
void processes_fork(struct processes *processes, uint32_t pid, uint32_t ppid, uint32_t tid, uint32_t ptid);
/* Sets the name of a thread. With `exec` the process runs another program: its mappings are dropped and its other
 * threads end. */
void processes_comm(struct processes *processes, uint32_t pid, uint32_t tid, struct str comm, bool exec);
/* Ends a thread at ns, and its process with the last one. Both stay in the table until processes_forget. */
void processes_exit(struct processes *processes, uint32_t tid, uint64_t ns);

/* Adds a mapping to a process, see mappings_put. */
enum mappings_answer processes_map(struct processes *processes, uint32_t pid, const struct mapping *mapping,
				   const struct mapped_file *file);

/* Forgets the mappings of a process. Processes that were forked with them keep them. */
void processes_unmap(struct processes *processes, struct process *process);

/* Forgets the mappings of a process because /proc shows that its pid belongs to another process now. */
void processes_replaced(struct processes *processes, struct process *process);

/* Returns the mapping that contains an address, or NULL. Valid until the next change. */
static inline const struct mapping *processes_at(const struct process *process, uint64_t address)
{
	return process && process->maps ? mappings_at(process->maps, address) : NULL;
}

/* Forgets processes and threads that ended before ns. Call it now and then. */
void processes_forget(struct processes *processes, uint64_t ns);

/* Apply a thread scan after lost records: processes_mark_stale, then processes_scanned for each thread found, then
 * processes_doubted, which ends all threads that were made before ns and were not found. */
void processes_mark_stale(struct processes *processes);
void processes_scanned(struct processes *processes, uint32_t pid, uint32_t tid);
void processes_doubted(struct processes *processes, uint64_t ns);

/* Calls fn for all processes, in no order. fn must not add any, since the table
 * may grow and move its slots. */
void processes_each(struct processes *processes, void (*fn)(void *to, struct process *process), void *to);

/* Numbers of entries, for tests and metrics. */
struct processes_counts {
	size_t processes, threads, files, mappings;
};
struct processes_counts processes_count(const struct processes *processes);

#endif
