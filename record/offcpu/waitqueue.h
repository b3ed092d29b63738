/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waitqueue.h - queue of the threads whose stacks must be read while they are off the CPU, in the order in which they
 * left the CPU.
 *
 * Memory is fixed: WAITQUEUE_MAX threads, at most half of them of one class (waitshare.h); beyond that, threads are not
 * queued. waitqueue_in removes a thread that is back on a CPU. It may miss a thread if two threads share a slot of the
 * hash table. A missed thread is then read in vain, because its copy gets no certificate. Pure: no input or output.
 */
#ifndef PJ_WAITQUEUE_H
#define PJ_WAITQUEUE_H

#include "common/base.h"

enum { WAITQUEUE_MAX = 2048, WAITQUEUE_SLOTS = 8192, WAITQUEUE_CLASSES = 256, WAIT_REGISTERS = 33 };
/* number of registers (sp, ip) in a copy of a thread that has been off the CPU since before the recording */
enum { WAIT_EARLY_REGISTERS = 2 };

/* A thread that left the CPU. */
struct wait {
	uint32_t pid, tid; /* tid 0: the thread is back on a CPU */
	/* time of the sample of the switch-out, in ns of CLOCK_MONOTONIC; 0: the thread left the CPU before the
	 * recording */
	uint64_t time;
	uint64_t sp;
	uint32_t abi;
	uint16_t nregisters;
	uint8_t class;
	uint64_t registers[WAIT_REGISTERS]; /* user registers, in the order of the sample */
};

struct waitqueue {
	struct wait wait[WAITQUEUE_MAX];
	/* head: number of the next entry to add. tail: number of the oldest entry. Index in `wait`: number modulo
	 * WAITQUEUE_MAX. */
	uint64_t head, tail;
	/* number of entries of each class from tail to head; entries of threads that are back on a CPU are included */
	uint16_t queued[WAITQUEUE_CLASSES];
	/* hash table by tid: number, counted from 1, of the newest entry of the slot; 0: none */
	uint64_t last[WAITQUEUE_SLOTS];
};

/* Removes an older entry of the thread, then adds a copy of *wait, the entry of a thread that leaves the CPU. Returns
 * false, without adding it, if the queue is full, or has WAITQUEUE_MAX / 2 entries of the class of *wait. */
bool waitqueue_out(struct waitqueue *waitqueue, const struct wait *wait);
/* Removes the entry of a thread that is back on a CPU; does nothing if the queue has none. */
void waitqueue_in(struct waitqueue *waitqueue, uint32_t tid);
/* waitqueue_oldest returns the oldest entry; NULL if the queue is empty. The entry is valid until waitqueue_drop, which
 * removes it. */
const struct wait *waitqueue_oldest(struct waitqueue *waitqueue);
void waitqueue_drop(struct waitqueue *waitqueue);

#endif
