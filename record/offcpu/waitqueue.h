/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waitqueue.h - the threads whose stacks are to be read while they are off the CPU, in the order in which they left it.
 *
 * Memory is fixed: WAITQUEUE_MAX threads; beyond that, waits are not queued. waitqueue_in takes a thread out that is
 * back on a CPU. It may miss one (two threads share a slot of its table), which is then read in vain: the certificate
 * refuses that copy. Pure.
 */
#ifndef PJ_WAITQUEUE_H
#define PJ_WAITQUEUE_H

#include "common/base.h"

enum { WAITQUEUE_MAX = 1024, WAITQUEUE_SLOTS = 8192, WAIT_REGISTERS = 33 };

/* A thread that left the CPU. */
struct wait {
	uint32_t pid, tid; /* tid 0: it is back */
	uint64_t time;     /* of the sample of its switch-out, in ns of CLOCK_MONOTONIC */
	uint64_t sp;
	uint32_t abi, nregisters;
	uint64_t registers[WAIT_REGISTERS]; /* user registers, as in the sample */
};

struct waitqueue {
	struct wait wait[WAITQUEUE_MAX];
	uint64_t head, tail;            /* numbers of the next entry to add, and of the oldest one */
	uint64_t last[WAITQUEUE_SLOTS]; /* number of the newest entry, from 1, of the threads with this hash */
};

/* Returns the entry for a thread that leaves the CPU, for the caller to fill, or NULL if the queue is full. An older
 * entry of the thread is taken out. */
struct wait *waitqueue_out(struct waitqueue *waitqueue, uint32_t tid);
/* Takes a thread out that is back on a CPU. */
void waitqueue_in(struct waitqueue *waitqueue, uint32_t tid);
/* Returns the oldest entry, NULL if there is none; it is valid until waitqueue_drop, which removes it. */
const struct wait *waitqueue_oldest(struct waitqueue *waitqueue);
void waitqueue_drop(struct waitqueue *waitqueue);
/* Removes all entries. */
void waitqueue_clear(struct waitqueue *waitqueue);

#endif
