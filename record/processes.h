/* SPDX-License-Identifier: Apache-2.0 */
/*
 * processes.h - which processes and threads there are, what they are called and which code they mapped: a table that
 * follows the side-band records of the kernel, so that each window can be given the state of just those that were sampled.
 *
 * Forks share their parent's mappings until one of them maps something. What ended is kept for a while, since samples of
 * do_exit come after the record of the exit. Memory follows what lives now, over months: names of files are counted
 * references. Nothing here does I/O, and nothing fails.
 */
#ifndef PJ_PROCESSES_H
#define PJ_PROCESSES_H

#include "str.h"

#include <sys/types.h>

#define COMM_MAX 16 /* TASK_COMM_LEN */

/* An entry of the tables behind this; its first member, nobody else's business. */
struct processes_link {
	struct processes_link *next;
	uint64_t hash;
};

/* What a mapping maps: the same for all processes that have it. */
struct mapped_file {
	struct processes_link link;
	uint32_t major, minor;
	uint64_t inode, generation;
	uint32_t protection, flags;
	uint32_t references;
	uint32_t table;        /* of tables.h: its number there, as it was last; 0: not known */
	uint8_t build_id_size; /* 0: not known; these three do not make it another file */
	uint8_t build_id[20];
	uint64_t window; /* serial + 1 of the window that has its build-id already */
	struct str path; /* as in MMAP2 */
};

struct mapping {
	uint64_t start, length, offset;
	struct mapped_file *file;
};

struct mappings {
	uint32_t references, n, cap;
	uint64_t version;  /* another one whenever the contents are */
	struct mapping *m; /* by address, without overlaps */
	uint64_t looked;   /* the version that javacode.h looked at: */
	bool jvm;          /* is a libjvm.so among them? */
};

struct process {
	struct processes_link link;
	uint32_t pid, inner_pid; /* inner_pid: in its own PID namespace, 0: not known yet */
	uint64_t start_ticks;    /* field 22 of /proc/PID/stat; 0: not known */
	uint64_t mount_ns;       /* 0: not known */
	struct mappings *maps;   /* NULL: none */
	uint64_t window;         /* serial + 1 of the window that holds its state */
	uint64_t exited;         /* ns; 0: lives */
	uint32_t live;           /* threads that did not end */
	bool target;             /* -p: it, or a child of it */
	uint64_t asked;          /* ns of the last time that /proc was asked for it in need */
	struct process_given {   /* which of its mappings a window has */
		uint64_t window, version; /* of the mappings: with another one none is known to be there */
		uint64_t *bit;
		uint32_t words;
	} given;
};

struct thread {
	struct processes_link link;
	uint32_t pid, tid;
	char comm[COMM_MAX];
	uint64_t window, exited;
	uint32_t scan; /* last reading of /proc that met it */
	bool named;    /* comm is known */
};

struct processes;

struct processes *processes_new(void);
void processes_free(struct processes *p);

struct process *processes_find(const struct processes *p, uint32_t pid); /* NULL: nothing is known of it */
struct thread *processes_thread(const struct processes *p, uint32_t tid);
struct process *processes_make(struct processes *p, uint32_t pid); /* found or made */
struct thread *processes_make_thread(struct processes *p, uint32_t pid, uint32_t tid);

/* What the records of the kernel say. Unknown parents and threads are made. */
void processes_fork(struct processes *p, uint32_t pid, uint32_t ppid, uint32_t tid, uint32_t ptid);
void processes_comm(struct processes *p, uint32_t pid, uint32_t tid, struct str comm, bool exec);
void processes_exit(struct processes *p, uint32_t tid, uint64_t ns);

/* Both are copied; m->file is not looked at. The mapping in the table, valid until the next change; NULL: it is empty, or there are
 * too many. */
struct mapping *processes_map(struct processes *p, uint32_t pid, const struct mapping *m,
			      const struct mapped_file *file);

/* The mapping that address lies in: its number in m; m->n: none. */
uint32_t processes_at(const struct mappings *m, uint64_t address);

/* Forgets what ended before ns. To be called now and then. */
void processes_forget(struct processes *p, uint64_t ns);

/* Before /proc is read again since records were lost: whatever it does not name by processes_scanned has ended. */
void processes_doubt(struct processes *p);
void processes_scanned(struct processes *p, uint32_t pid, uint32_t tid);
void processes_doubted(struct processes *p, uint64_t ns);

/* All processes, in no order; fn may not add any. */
void processes_each(struct processes *p, void (*fn)(void *to, struct process *process), void *to);

struct processes_counts {
	size_t processes, threads, files, mappings;
};
struct processes_counts processes_count(const struct processes *p);

#endif
