/* SPDX-License-Identifier: Apache-2.0 */
/*
 * processes.h - table of processes and threads with their names and mappings, updated by side-band records.
 *
 * From this table each window gets the state of only those processes that were sampled in it. After a fork, parent and
 * child share mappings until one of them maps something. Ended processes stay in the table for a while, since samples
 * of do_exit come after the EXIT record. Memory depends on the number of living processes, even after months: names of
 * files are reference-counted. The module does no I/O, and no function fails.
 */
#ifndef PJ_PROCESSES_H
#define PJ_PROCESSES_H

#include "record/processes/mappings.h"

#include <sys/types.h>

#define COMM_MAX 16 /* size of a thread's name in bytes, including its NUL: TASK_COMM_LEN of the kernel */

/* A process. Its members `window` and tenant_window are 1 + serial number of a window; 0: none. Times are ns of
 * CLOCK_MONOTONIC. */
struct process {
	struct link link;
	/* pid: of the process; inner_pid: its pid in its own PID namespace, 0 if unknown */
	uint32_t pid, inner_pid;
	/* start time of the process, in clock ticks since boot (field 22 of /proc/PID/stat); 0 if unknown */
	uint64_t start_ticks;
	/* inode of the mount namespace of the process; 0 if unknown */
	uint64_t mount_ns;
	/* hash of the latest NAMESPACES record of the process; 0: there was no such record */
	uint64_t namespaces;
	/* tenant: valid if tenant_window is not 0. tenant_window: 1 + serial number of the window in which the tenant
	 * was last looked up; 0: never. */
	struct tenant tenant;
	uint64_t tenant_window;
	/* true: the tenant must be looked up again at the next sample, because the process called exec, entered
	 * namespaces or had a storm */
	bool changed;
	/* mappings of the process; NULL if it has none */
	struct mappings *maps;
	/* 1 + serial number of the latest window that has records of this process; 0: none */
	uint64_t window;
	/* time at which the process ended; 0 while it runs */
	uint64_t exited;
	/* time in ns (CLOCK_MONOTONIC) of the record that added the process to the table; 0: added before any record */
	uint64_t made;
	/* number of threads of the process that have not ended */
	uint32_t live;
	/* true: the process, or an ancestor of it, is a target of -p */
	bool target;
	/* true: at the latest reading of /proc, the process was no kernel thread and had a thread that had not ended */
	bool user_stacks;
	/* true: a reading of the process was requested from procreader.h, and the answer to it has not been applied
	 * yet */
	bool requested;
	/* time of the fork or latest exec of the process; 0: not recorded */
	uint64_t since;
	/* a loss of records before this time (ns) does not make the process stale, because at this time the process
	 * began or its state was read from /proc */
	uint64_t sure;
	/* CPU time in ns that the tenant was charged in advance for the requested reading */
	uint64_t reserved;
	/* retry: earliest time of the next reading of the process from /proc. pause: minimum time between two readings,
	 * in ns. */
	uint64_t retry, pause;
	/* number of mapping, name and namespace records since the last exec of the process or of the ancestor from
	 * which it was forked */
	uint32_t records;
	/* true: mappings are unknown, because records of the process were skipped in a storm and /proc was not read
	 * since */
	bool stale;
	/* end of the storm of this process; records before it are skipped; 0: no storm */
	uint64_t storm;
	/* number of records that were skipped since the storm began or was last prolonged */
	uint32_t skipped;
	/* hash set of the ids of the process's mappings that have a record in the window given.window */
	struct process_given {
		uint64_t window;
		uint64_t *id; /* slots of the hash set: ids of mappings; 0: free slot */
		uint32_t n, cap;
	} given;
};

/* A thread. window: 1 + serial number of the latest window that has its name. exited: time of its end in ns, 0 while it
 * runs. */
struct thread {
	struct link link;
	uint32_t pid, tid;
	char comm[COMM_MAX];
	uint64_t window, exited;
	/* time in ns (CLOCK_MONOTONIC) of the record that added the thread to the table; 0: added before any record */
	uint64_t made;
	/* serial number of the latest thread scan that found this thread */
	uint32_t scan;
	/* named: true: comm is known. renamed: true: the name of the thread in the window `window` is not the current
	 * one. */
	bool named, renamed;
};

struct processes;

/* Returns an empty table. tenants: tenants to which memory for mappings is charged; NULL: the memory is not charged.
 * The caller frees the table with processes_free. */
struct processes *processes_new(struct tenants *tenants);
/* Frees the table and all mappings. Accepts NULL. */
void processes_free(struct processes *processes);

/* processes_find returns the process with this pid, processes_thread the thread with this tid; NULL if the table has
 * none. */
struct process *processes_find(const struct processes *processes, uint32_t pid);
struct thread *processes_thread(const struct processes *processes, uint32_t tid);
/* processes_make returns the process with this pid, processes_make_thread the thread with this tid and pid. Both add
 * the process or thread if the table does not have it. A thread with this tid in another process is removed first. */
struct process *processes_make(struct processes *processes, uint32_t pid);
struct thread *processes_make_thread(struct processes *processes, uint32_t pid, uint32_t tid);

/* Sets the time of the current record, in ns of CLOCK_MONOTONIC. Threads and processes that are added later have it as
 * their start time. */
void processes_time(struct processes *processes, uint64_t ns);

/* Applies a FORK record: adds a thread (pid equals ppid) or a process. The thread inherits the name of its parent
 * thread, and a process the mappings and tenant of its parent process, as far as the table has them. If an unknown
 * thread starts a thread of its own process, adds the unknown thread, too, without a name. If the table has the pid or
 * tid already, the end of its previous owner was not recorded, and that owner is removed first. */
void processes_fork(struct processes *processes, uint32_t pid, uint32_t ppid, uint32_t tid, uint32_t ptid);
/* Sets the name of a thread. exec: true: the process now runs another program, so its mappings are dropped and its
 * other threads end. */
void processes_comm(struct processes *processes, uint32_t pid, uint32_t tid, struct str comm, bool exec);
/* Ends a thread at time ns; the end of the last thread ends the process, too. The end of an unknown first thread ends a
 * process without threads. Thread and process stay in the table until processes_forget. */
void processes_exit(struct processes *processes, uint32_t pid, uint32_t tid, uint64_t ns);

/* Adds a mapping of a file to a process and returns the result of mappings_put. Adds the process if it is unknown. */
enum mappings_answer processes_map(struct processes *processes, uint32_t pid, const struct mapping *mapping,
				   const struct mapped_file *file);

/* Drops the mappings of a process. Other processes that share them since a fork keep them. */
void processes_unmap(struct processes *processes, struct process *process);

/* Drops the mappings of a process and all facts that identify it, because /proc shows that its pid now belongs to
 * another process. */
void processes_replaced(struct processes *processes, struct process *process);

/* Returns the mapping of a process that contains a virtual address; NULL if there is none or process is NULL. The
 * pointer is valid until the next change of the process's mappings. */
static inline const struct mapping *processes_at(const struct process *process, uint64_t address)
{
	return process && process->maps ? mappings_at(process->maps, address) : NULL;
}

/* Removes from the table the processes and threads that ended before time ns. The caller calls it every few seconds. */
void processes_forget(struct processes *processes, uint64_t ns);

/* Functions for a thread scan after lost records. processes_mark_stale begins the scan. processes_scanned applies each
 * thread that was found. processes_doubted ends all threads that were not found, and all processes without threads,
 * except those that were added at time ns or later. */
void processes_mark_stale(struct processes *processes);
void processes_scanned(struct processes *processes, uint32_t pid, uint32_t tid);
void processes_doubted(struct processes *processes, uint64_t ns);

/* Calls fn for all processes, in no particular order. fn must not add processes, since the table would then grow and
 * move its slots. */
void processes_each(struct processes *processes, void (*fn)(void *to, struct process *process), void *to);

/* Calls fn for all threads, in no particular order. fn must not add or remove threads. */
void processes_each_thread(struct processes *processes, void (*fn)(void *to, const struct thread *thread), void *to);

/* Numbers of processes, threads, mapped files and mappings in the table, for tests and metrics. */
struct processes_counts {
	size_t processes, threads, files, mappings;
};
struct processes_counts processes_count(const struct processes *processes);

#endif
