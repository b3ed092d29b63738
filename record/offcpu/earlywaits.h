/* SPDX-License-Identifier: Apache-2.0 */
/*
 * earlywaits.h - the threads of user programs that existed when a recording began: those that were off the CPU then,
 * and have no record of their switch-out, are to be read, and are counted if no sample has their time.
 *
 * A table by tid, made once. A thread leaves it with its first record, unless that is its return: then it is counted
 * first. Reads are tried at the start, and again after 1 and 3 s where none succeeded or the stack has no root, as a
 * reading of unwind tables or of a JVM takes that long. EARLYWAITS_MAX threads are in the table at most, and of these
 * EARLYWAITS_READ are read, EARLYWAITS_BURST in each EARLYWAITS_PAUSE_NS: all others are only counted. Pure.
 */
#ifndef PJ_EARLYWAITS_H
#define PJ_EARLYWAITS_H

#include "record/offcpu/offcpu.h"

enum { EARLYWAITS_MAX = 65536, EARLYWAITS_READ = 8192, EARLYWAITS_BURST = 40 };
#define EARLYWAITS_PAUSE_NS UINT64_C(100000000)

struct earlywait {
	uint32_t pid, tid;
	uint8_t tries;
	bool gone; /* it has left the table */
};

/* The zero value is empty. */
struct earlywaits {
	struct earlywait *wait; /* sorted by tid */
	size_t n, cursor;       /* cursor: index at which the next search begins */
	uint64_t begun, last;   /* time of the start; of the last burst */
	uint64_t returned;      /* threads that returned since the last count */
	uint64_t over;          /* threads beyond EARLYWAITS_MAX */
	unsigned burst;         /* reads of the last burst */
};

/* Adds a thread. To be called before earlywaits_begin. */
void earlywaits_add(struct earlywaits *earlywaits, uint32_t pid, uint32_t tid);
/* Ends the additions, at time now. */
void earlywaits_begin(struct earlywaits *earlywaits, uint64_t now);
void earlywaits_free(struct earlywaits *earlywaits);

/* Returns the next thread whose stack is to be read at time now, and counts that as a try; NULL if there is none, or if
 * the burst is over. */
const struct earlywait *earlywaits_next(struct earlywaits *earlywaits, const struct offcpu *offcpu, uint64_t now);
/* Returns the pid of a thread of the table, 0 if it is none. */
uint32_t earlywaits_pid(const struct earlywaits *earlywaits, uint32_t tid);

/* Takes threads out of the table that have had records. Called now and then: at most 2 s after the end of a thread its
 * records are known. */
void earlywaits_update(struct earlywaits *earlywaits, const struct offcpu *offcpu);
/* Takes the threads out for which alive returns false, because their records were lost. */
void earlywaits_end(struct earlywaits *earlywaits, bool (*alive)(void *to, uint32_t tid), void *to);
/* Returns the number of threads whose time since the start is in no sample: of those that returned since the last call,
 * and of those that are off the CPU still. Calls earlywaits_update. */
uint64_t earlywaits_lacking(struct earlywaits *earlywaits, const struct offcpu *offcpu);

#endif
