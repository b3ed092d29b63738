/* SPDX-License-Identifier: Apache-2.0 */
/*
 * processes.h - which processes and threads there are, what they are called and which code they mapped: a table that
 * follows the side-band records of the kernel, so that each window can be given the state of just those that were
 * sampled.
 *
 * Forks share their parent's mappings until one of them maps something. What ended is kept for a while, since samples
 * of do_exit come after the record of the exit. Memory follows what lives now, over months: names of files are counted
 * references. Nothing here does I/O, and nothing fails.
 */
#ifndef PJ_PROCESSES_H
#define PJ_PROCESSES_H

#include "record/processes/mappings.h"

#include <sys/types.h>

#define COMM_MAX 16 /* TASK_COMM_LEN */

struct process {
	struct link link;
	uint32_t pid, inner_pid; /* inner_pid: in its own PID namespace, 0: not known yet */
	uint64_t start_ticks;    /* field 22 of /proc/PID/stat; 0: not known */
	uint64_t mount_ns;       /* 0: not known */
	uint64_t namespaces;     /* hash of all in the last record of them; 0: none came */
	struct tenant
		tenant; /* valid if tenant_window, the serial + 1 of the window in which it was looked up, is not 0 */
	uint64_t tenant_window;
	bool changed;          /* it ran another program, or entered namespaces, since its tenant was looked up */
	struct mappings *maps; /* NULL: none */
	uint64_t window;       /* serial + 1 of the window that holds its state */
	uint64_t exited;       /* ns; 0: lives */
	uint32_t live;         /* threads that did not end */
	bool target;           /* -p: it, or a child of it */
	bool requested;        /* from /proc (procreader.h), and not answered yet */
	uint64_t since;        /* ns: of its fork or last exec; 0: not recorded */
	uint64_t sure;         /* ns: a loss of records before then left nothing out */
	uint64_t reserved;     /* ns of CPU time that its tenant paid for that in advance */
	uint64_t retry, pause; /* ns: not to be read again before; least time between readings */
	uint32_t records;      /* of mappings, names and namespaces, since its last exec */
	bool stale;            /* its mappings are not known, since records were skipped */
	uint64_t storm;        /* ns: they are skipped until then; 0: they are not */
	uint32_t skipped;      /* in this second of the storm */
	struct process_given { /* which of its mappings a window has: a hash set of their ids */
		uint64_t window;
		uint64_t *id; /* 0: free */
		uint32_t n, cap;
	} given;
};

struct thread {
	struct link link;
	uint32_t pid, tid;
	char comm[COMM_MAX];
	uint64_t window, exited;
	uint64_t made; /* ns: of its fork; 0: not recorded */
	uint32_t scan; /* last reading of /proc that had it */
	bool named;    /* comm is known */
};

struct processes;

/* Memory for mappings is charged to tenants, which may be NULL. */
struct processes *processes_new(struct tenants *tenants);
void processes_free(struct processes *processes);

struct process *processes_find(const struct processes *processes, uint32_t pid); /* NULL: nothing is known of it */
struct thread *processes_thread(const struct processes *processes, uint32_t tid);
struct process *processes_make(struct processes *processes, uint32_t pid); /* found or made */
struct thread *processes_make_thread(struct processes *processes, uint32_t pid, uint32_t tid);

/* The time of the record that comes next. */
void processes_time(struct processes *processes, uint64_t ns);

/* What the records of the kernel say. Unknown parents and threads are made. */
void processes_fork(struct processes *processes, uint32_t pid, uint32_t ppid, uint32_t tid, uint32_t ptid);
void processes_comm(struct processes *processes, uint32_t pid, uint32_t tid, struct str comm, bool exec);
void processes_exit(struct processes *processes, uint32_t tid, uint64_t ns);

/* See mappings.h. */
enum mappings_answer processes_map(struct processes *processes, uint32_t pid, const struct mapping *mapping,
				   const struct mapped_file *file);

/* Nothing is known of its mappings any more. Processes that were forked with them keep them. */
void processes_unmap(struct processes *processes, struct process *process);

/* /proc shows that a pid belongs to another process than the table has: all that is known of its mappings is forgotten.
 */
void processes_replaced(struct processes *processes, struct process *process);

/* The mapping that an address lies in; NULL: none. Valid until the next change. */
static inline const struct mapping *processes_at(const struct process *process, uint64_t address)
{
	return process && process->maps ? mappings_at(process->maps, address) : NULL;
}

/* Forgets what ended before ns. To be called now and then. */
void processes_forget(struct processes *processes, uint64_t ns);

/* A survey of /proc, since records were lost: threads that were made before ns, and are not among those of
 * processes_scanned, have ended. */
void processes_mark_stale(struct processes *processes);
void processes_scanned(struct processes *processes, uint32_t pid, uint32_t tid);
void processes_doubted(struct processes *processes, uint64_t ns);

/* All processes, in no order; fn may not add any. */
void processes_each(struct processes *processes, void (*fn)(void *to, struct process *process), void *to);

struct processes_counts {
	size_t processes, threads, files, mappings;
};
struct processes_counts processes_count(const struct processes *processes);

#endif
