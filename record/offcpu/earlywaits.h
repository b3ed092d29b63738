/* SPDX-License-Identifier: Apache-2.0 */
/*
 * earlywaits.h - table of the user threads that existed when a recording began, by tid.
 *
 * A thread that was off the CPU at that time has no record of its switch-out. So pjrecord-wait reads its stack. If the
 * read fails, so that the thread's time off the CPU is in no sample, the thread is counted as lacking. The table is
 * made once. A thread leaves the table with its first record. If that record is its return to a CPU, the thread is
 * counted as returned.
 *
 * A stack is read at the start, and again after 1 s and after 3 s if it could not be read or has no root frame:
 * pjrecord may need that long to read unwind tables or a JVM. The table has at most EARLYWAITS_MAX threads. The stacks
 * of at most EARLYWAITS_READ threads are read, EARLYWAITS_BURST in each EARLYWAITS_PAUSE_NS; the other threads are only
 * counted. Tenants share these limits by turns, and so do the processes of a tenant: a process with many threads does
 * not use up the reads of other processes. Pure: no input or output.
 */
#ifndef PJ_EARLYWAITS_H
#define PJ_EARLYWAITS_H

#include "record/offcpu/offcpu.h"

enum { EARLYWAITS_MAX = 65536, EARLYWAITS_READ = 8192, EARLYWAITS_BURST = 40, EARLYWAITS_RETRIES = 3 };
#define EARLYWAITS_PAUSE_NS UINT64_C(100000000)

struct earlywait {
	uint64_t tenant; /* hash of the tenant */
	uint32_t pid, tid;
	uint32_t turn; /* position of this thread in the order of reads, from 0 */
	/* number of reads of the stack so far */
	uint8_t tries;
	bool gone; /* true: the thread has left the table */
};

/* Table of threads. A zeroed object is valid and empty. */
struct earlywaits {
	struct earlywait *wait; /* array of n threads, sorted by tid */
	/* indexes in `wait` of the nread threads whose stacks are read, in the order of their turns */
	uint32_t *order;
	/* n: number of threads. nread: number of indexes in `order`. cursor: position in `order` at which the search
	 * for the next thread continues. */
	size_t n, nread, cursor;
	/* begun: time of earlywaits_begin. last: time at which the last burst began. Both in ns. */
	uint64_t begun, last;
	uint64_t updated;  /* time of the last update by earlywaits_tick, in ns */
	uint64_t returned; /* number of threads that returned to a CPU since the last call of earlywaits_lacking */
	uint64_t over;     /* number of threads that are not in the table, because it is full */
	unsigned burst;    /* number of reads in the last burst */
	/* number of calls of earlywaits_retry that allowed further reads, at most EARLYWAITS_RETRIES */
	unsigned again;
};

/* Adds a thread. tenant: hash of its tenant. The caller adds all threads before earlywaits_begin. */
void earlywaits_add(struct earlywaits *earlywaits, uint64_t tenant, uint32_t pid, uint32_t tid);
/* Ends the additions and determines the order of reads. now: current time in ns, from which the delays before reads
 * count. */
void earlywaits_begin(struct earlywaits *earlywaits, uint64_t now);
void earlywaits_free(struct earlywaits *earlywaits);

/* Returns the next thread whose stack must be read at time now (ns), and counts one read of it. Returns NULL if no
 * thread is due, the burst is complete, or 60 s have passed since earlywaits_begin. Also returns NULL if records were
 * lost, since then no copy of a stack can be certified. */
const struct earlywait *earlywaits_next(struct earlywaits *earlywaits, const struct offcpu *offcpu, uint64_t now);
/* Undoes the counting of a read by earlywaits_next for `wait`, because the read could not be requested. Ends the
 * burst. */
void earlywaits_defer(struct earlywaits *earlywaits, const struct earlywait *wait);
/* Allows one more read of each thread without a stack, because pjrecord-wait ended and its pending reads were lost.
 * Does nothing after EARLYWAITS_RETRIES calls. */
void earlywaits_retry(struct earlywaits *earlywaits, const struct offcpu *offcpu);
/* Returns the pid of a thread of the table; 0 if the table does not have the thread. */
uint32_t earlywaits_pid(const struct earlywaits *earlywaits, uint32_t tid);

/* earlywaits_update removes threads that have had records. earlywaits_tick does the same twice a second: that is often
 * enough, because offcpu.h drops the records of a thread 2 s after its end. */
void earlywaits_update(struct earlywaits *earlywaits, const struct offcpu *offcpu);
void earlywaits_tick(struct earlywaits *earlywaits, const struct offcpu *offcpu, uint64_t now);
/* Removes the threads for which alive(to, tid) returns false: they have ended, but their EXIT records were lost. */
void earlywaits_end(struct earlywaits *earlywaits, bool (*alive)(void *to, uint32_t tid), void *to);
/* Returns the number of threads whose time off the CPU since the start is in no sample: threads that returned since the
 * last call, threads that are still off the CPU, and threads beyond EARLYWAITS_MAX. Calls earlywaits_update. */
uint64_t earlywaits_lacking(struct earlywaits *earlywaits, const struct offcpu *offcpu);

#endif
