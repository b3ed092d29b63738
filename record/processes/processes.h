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

#define COMM_MAX 16 /* maximum size of a thread's name with its NUL: TASK_COMM_LEN of the kernel */

/* A process. Its `window` members are 1 + serial number of a window, 0 for none; times are ns of CLOCK_MONOTONIC. */
struct process {
	struct link link;
	/* inner_pid: pid of the process in its own PID namespace; 0 if unknown */
	uint32_t pid, inner_pid;
	/* start time of the process, in clock ticks since boot (field 22 of /proc/PID/stat); 0 if unknown */
	uint64_t start_ticks;
	/* inode of the mount namespace of the process; 0 if unknown */
	uint64_t mount_ns;
	/* hash of the latest NAMESPACES record of the process; 0 if there was none */
	uint64_t namespaces;
	/* tenant: valid if tenant_window is not 0; tenant_window: window in which it was looked up last */
	struct tenant tenant;
	uint64_t tenant_window;
	/* true if the next sample must look the tenant up again: the process called exec, entered namespaces or had a
	 * storm */
	bool changed;
	/* mappings of the process; NULL if it has none */
	struct mappings *maps;
	/* latest window that contains records of this process */
	uint64_t window;
	/* time at which the process ended; 0 while it runs */
	uint64_t exited;
	/* number of threads of the process that have not ended */
	uint32_t live;
	/* true if the process or one of its ancestors is a target of -p */
	bool target;
	/* true if the latest reading of /proc showed a process of user code whose threads have not all ended */
	bool user_stacks;
	/* true if a reading of the process was requested from procreader.h and is not answered yet */
	bool requested;
	/* time of the fork or latest exec of the process; 0 if not recorded */
	uint64_t since;
	/* records that were lost before this time do not make the process stale */
	uint64_t sure;
	/* CPU time in ns that the tenant paid in advance for the requested reading */
	uint64_t reserved;
	/* earliest time of the next reading of /proc; least time between readings, in ns */
	uint64_t retry, pause;
	/* number of mapping, name and namespace records of the process since its last exec */
	uint32_t records;
	/* true if the mappings are unknown, because records were skipped in a storm */
	bool stale;
	/* end of the storm of this process: its records are skipped until this time; 0 outside of a storm */
	uint64_t storm;
	/* number of records that were skipped since the storm began or was last prolonged */
	uint32_t skipped;
	struct process_given { /* hash set with the ids of those mappings of the process that the open window has */
		uint64_t window;
		uint64_t *id; /* ids of mappings; 0 marks a free slot */
		uint32_t n, cap;
	} given;
};

/* A thread. `window`: latest window that has its name; `exited`: time of its end, 0 while it runs. */
struct thread {
	struct link link;
	uint32_t pid, tid;
	char comm[COMM_MAX];
	uint64_t window, exited;
	/* time of the record that added the thread to the table; 0 before the first record */
	uint64_t made;
	/* serial number of the latest thread scan that found this thread */
	uint32_t scan;
	/* named: comm is known. renamed: the record of the name in the file of `window` has an earlier one. */
	bool named, renamed;
};

struct processes;

/* Returns an empty table. Memory for mappings is charged to `tenants`; NULL: it is not charged. */
struct processes *processes_new(struct tenants *tenants);
/* Frees the table and all mappings. Accepts NULL. */
void processes_free(struct processes *processes);

/* Return the process with this pid, or the thread with this tid; NULL if the table has none. */
struct process *processes_find(const struct processes *processes, uint32_t pid);
struct thread *processes_thread(const struct processes *processes, uint32_t tid);
/* Return the process with this pid, or the thread with this tid and pid; add it if the table has none. */
struct process *processes_make(struct processes *processes, uint32_t pid);
struct thread *processes_make_thread(struct processes *processes, uint32_t pid, uint32_t tid);

/* Sets the current time, in ns. Processes and threads that are added later get it as their start time. */
void processes_time(struct processes *processes, uint64_t ns);

/* Applies a FORK record. Adds an unknown parent process. A known pid or tid is that of an old process or thread whose
 * end was not recorded: it is removed first. */
void processes_fork(struct processes *processes, uint32_t pid, uint32_t ppid, uint32_t tid, uint32_t ptid);
/* Sets the name of a thread. With `exec` the process runs another program: its mappings are dropped, and its other
 * threads end. */
void processes_comm(struct processes *processes, uint32_t pid, uint32_t tid, struct str comm, bool exec);
/* Ends a thread at ns; the last thread ends the process, too. Both stay in the table until processes_forget. */
void processes_exit(struct processes *processes, uint32_t tid, uint64_t ns);

/* Adds a mapping to a process (mappings_put). */
enum mappings_answer processes_map(struct processes *processes, uint32_t pid, const struct mapping *mapping,
				   const struct mapped_file *file);

/* Drops the mappings of a process. Processes that share them by fork keep them. */
void processes_unmap(struct processes *processes, struct process *process);

/* Drops the mappings of a process, and facts about its identity, because /proc shows that its pid belongs to another
 * process now. */
void processes_replaced(struct processes *processes, struct process *process);

/* Returns the mapping of a process that contains an address, or NULL. The pointer is valid until the next change. */
static inline const struct mapping *processes_at(const struct process *process, uint64_t address)
{
	return process && process->maps ? mappings_at(process->maps, address) : NULL;
}

/* Removes processes and threads that ended before ns from the table. Call it every few seconds. */
void processes_forget(struct processes *processes, uint64_t ns);

/* These three apply a thread scan after records were lost: processes_mark_stale begins it, processes_scanned takes each
 * thread that was found, and processes_doubted ends all threads that were not found, except those that started at ns or
 * later. */
void processes_mark_stale(struct processes *processes);
void processes_scanned(struct processes *processes, uint32_t pid, uint32_t tid);
void processes_doubted(struct processes *processes, uint64_t ns);

/* Calls fn for all processes, in no order. fn must not add processes, since the table may grow and move its slots. */
void processes_each(struct processes *processes, void (*fn)(void *to, struct process *process), void *to);

/* The same for all threads. fn must not add or remove threads. */
void processes_each_thread(struct processes *processes, void (*fn)(void *to, const struct thread *thread), void *to);

/* Numbers of processes, threads, mapped files and mappings in the table, for tests and metrics. */
struct processes_counts {
	size_t processes, threads, files, mappings;
};
struct processes_counts processes_count(const struct processes *processes);

#endif
