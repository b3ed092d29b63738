/* SPDX-License-Identifier: Apache-2.0 */
/*
 * earlywaits.h - the threads of user programs that existed when a recording began: those that were off the CPU then,
 * and have no record of their switch-out, are to be read, and are counted if no sample has their time.
 *
 * A table by tid, made once. A thread leaves it with its first record, unless that is its return: then it is counted
 * first. Reads are tried at the start, and again after 1 and 3 s where none succeeded or the stack has no root, as a
 * reading of unwind tables or of a JVM takes that long. EARLYWAITS_MAX threads are in the table at most, and of these
 * EARLYWAITS_READ are read, EARLYWAITS_BURST in each EARLYWAITS_PAUSE_NS: all others are only counted. Tenants share
 * these limits by turns, and the processes of a tenant share its turns: one with many threads leaves the others their
 * reads. Pure.
 */
#ifndef PJ_EARLYWAITS_H
#define PJ_EARLYWAITS_H

#include "record/offcpu/offcpu.h"

enum { EARLYWAITS_MAX = 65536, EARLYWAITS_READ = 8192, EARLYWAITS_BURST = 40, EARLYWAITS_RETRIES = 3 };
#define EARLYWAITS_PAUSE_NS UINT64_C(100000000)

struct earlywait {
	uint64_t tenant; /* a hash */
	uint32_t pid, tid;
	uint32_t turn; /* number of the read of this thread */
	uint8_t tries;
	bool gone; /* it has left the table */
};

/* The zero value is empty. */
struct earlywaits {
	struct earlywait *wait;  /* sorted by tid */
	uint32_t *order;         /* indexes of those that are read, by their turns */
	size_t n, nread, cursor; /* nread: number of indexes; cursor: the place among them where the search goes on */
	uint64_t begun, last;    /* time of the start; of the last burst */
	uint64_t updated;        /* time of the last regular update */
	uint64_t returned;       /* threads that returned since the last count */
	uint64_t over;           /* threads beyond EARLYWAITS_MAX */
	unsigned burst;          /* reads of the last burst */
	unsigned again;          /* calls of earlywaits_retry */
};

/* Adds a thread of a tenant, of which `tenant` is a hash. To be called before earlywaits_begin. */
void earlywaits_add(struct earlywaits *earlywaits, uint64_t tenant, uint32_t pid, uint32_t tid);
/* Ends the additions, at time now. */
void earlywaits_begin(struct earlywaits *earlywaits, uint64_t now);
void earlywaits_free(struct earlywaits *earlywaits);

/* Returns the next thread whose stack is to be read at time now, and counts that as a try; NULL if there is none, if
 * the burst is over, or if records were lost, as no such stack is certain then. */
const struct earlywait *earlywaits_next(struct earlywaits *earlywaits, const struct offcpu *offcpu, uint64_t now);
/* Takes the last try back, as it could not be made: earlywaits_next returned `wait`. Ends the burst. */
void earlywaits_defer(struct earlywaits *earlywaits, const struct earlywait *wait);
/* Gives each thread without a stack one more try, EARLYWAITS_RETRIES times at most: the process that reads has ended
 * with reads that it was to make. */
void earlywaits_retry(struct earlywaits *earlywaits, const struct offcpu *offcpu);
/* Returns the pid of a thread of the table, 0 if it is none. */
uint32_t earlywaits_pid(const struct earlywaits *earlywaits, uint32_t tid);

/* Takes threads out of the table that have had records. earlywaits_tick does that twice a second: 2 s after the end of
 * a thread its records are not known any more. */
void earlywaits_update(struct earlywaits *earlywaits, const struct offcpu *offcpu);
void earlywaits_tick(struct earlywaits *earlywaits, const struct offcpu *offcpu, uint64_t now);
/* Takes the threads out for which alive returns false, because their records were lost. */
void earlywaits_end(struct earlywaits *earlywaits, bool (*alive)(void *to, uint32_t tid), void *to);
/* Returns the number of threads whose time since the start is in no sample: of those that returned since the last call,
 * and of those that are off the CPU still. Calls earlywaits_update. */
uint64_t earlywaits_lacking(struct earlywaits *earlywaits, const struct offcpu *offcpu);

#endif
