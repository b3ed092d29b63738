/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waitqueue.h - the threads whose stacks are to be read while they are off the CPU, in the order in which they left it.
 *
 * Memory is fixed: WAITQUEUE_MAX threads, half of it for those of one class (waitshare.h); beyond that, waits are not
 * queued. waitqueue_in takes a thread out that is
 * back on a CPU. It may miss one (two threads share a slot of its table), which is then read in vain: the certificate
 * refuses that copy. Pure.
 */
#ifndef PJ_WAITQUEUE_H
#define PJ_WAITQUEUE_H

#include "common/base.h"

enum { WAITQUEUE_MAX = 2048, WAITQUEUE_SLOTS = 8192, WAITQUEUE_CLASSES = 256, WAIT_REGISTERS = 33 };
enum { WAIT_EARLY_REGISTERS = 2 }; /* registers of a wait that began before the recording: sp and ip */

/* A thread that left the CPU. */
struct wait {
	uint32_t pid, tid; /* tid 0: it is back */
	uint64_t time;     /* of the sample of its switch-out, in ns of CLOCK_MONOTONIC; 0: before the recording */
	uint64_t sp;
	uint32_t abi;
	uint16_t nregisters;
	uint8_t class;
	uint64_t registers[WAIT_REGISTERS]; /* user registers, as in the sample */
};

struct waitqueue {
	struct wait wait[WAITQUEUE_MAX];
	uint64_t head, tail;                /* numbers of the next entry to add, and of the oldest one */
	uint16_t queued[WAITQUEUE_CLASSES]; /* entries of each class from tail to head, also of threads that are back */
	uint64_t last[WAITQUEUE_SLOTS];     /* number of the newest entry, from 1, of the threads with this hash */
};

/* Adds a copy of the entry of a thread that leaves the CPU. An older entry of the thread is taken out. Returns false if
 * the queue is full, or has half of its entries of that class. */
bool waitqueue_out(struct waitqueue *waitqueue, const struct wait *wait);
/* Takes a thread out that is back on a CPU. */
void waitqueue_in(struct waitqueue *waitqueue, uint32_t tid);
/* Returns the oldest entry, NULL if there is none; it is valid until waitqueue_drop, which removes it. */
const struct wait *waitqueue_oldest(struct waitqueue *waitqueue);
void waitqueue_drop(struct waitqueue *waitqueue);

#endif
