/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waitshare.h - the memory that pjrecord shares with its process pjrecord-wait: copies of the stacks of sleeping
 * threads, counters, and what pjrecord knows of processes and threads.
 *
 * The copies are in a ring with one writer and one taker. The writer never waits: a ring that is full refuses. The
 * taker reads the memory of another process, so it takes no size from there unchecked.
 */
#ifndef PJ_WAITSHARE_H
#define PJ_WAITSHARE_H

#include "record/offcpu/waitqueue.h"

#define WAITSHARE_BYTES ((size_t)4 << 20)  /* size of the ring of copies; a power of two */
#define WAITSHARE_STACK ((size_t)56 << 10) /* largest copy of a stack: a perf record has at most 64 kB */
#define WAITSHARE_FIRST ((size_t)16 << 10) /* largest copy of a thread whose stacks are not known yet */
enum { WAITSHARE_TOPS = 4096, WAITSHARE_PIDS = 65536, WAITSHARE_CLASSES = 256 };

/* Processes of class 0 are read; are not, as the recording has some processes only; are not, as a tenant is avoided. */
enum waitshare_strict { WAITSHARE_ALL, WAITSHARE_SOME, WAITSHARE_AVOID };

/* Frames of an interpreter of a thread (waitframes.h): the thread is not entered there; they were copied after the
 * stack; limits left them out. */
enum waitcopy_frames { WAITCOPY_NOT_ENTERED, WAITCOPY_FRAMES, WAITCOPY_LEFT_OUT };

/* Head of a copy in the ring; n bytes of the stack follow, from sp on. */
struct waitcopy {
	uint32_t size; /* bytes up to the next head, a multiple of 8 */
	uint32_t n;
	uint32_t frames, zero; /* enum waitcopy_frames */
	uint64_t begun, ended; /* before and after the reads, in ns of CLOCK_MONOTONIC */
	struct wait wait;      /* wait.tid 0: space that is skipped, without a copy */
};

struct waitcounters {
	/* copies: stacks that were read. Not read: failed, its memory had gone; denied, the kernel refuses; ring_full
	 * and queue_full, for lack of space; over_budget, by the limits of waitlimits.h; refused, its tenant is
	 * avoided. missed: gaps in the records that were followed; rounds: looks at the rings. */
	uint64_t copies, failed, denied, ring_full, queue_full, over_budget, refused, missed, rounds;
	/* copies of frames of interpreters; those left out by limits, or as their ring was full */
	uint64_t frames, frames_over, frames_full;
};

struct waitshare {
	/* written by pjrecord-wait */
	uint64_t head; /* end of what was written, in bytes since the start */
	/* time at which a read began that has not ended, 0: none; its process */
	uint64_t reading_since;
	uint32_t reading_pid;
	struct waitcounters counters;

	/* written by pjrecord */
	uint64_t tail;
	uint32_t strict; /* enum waitshare_strict */
	uint32_t known;  /* changes when the class of a process becomes known */
	/* pid of a process (upper 24 bits) and its class (lower 8), a hash of its tenant, from 1, by the low bits of
	 * the pid; 0: none is known */
	uint32_t process[WAITSHARE_PIDS];
	uint8_t refused[WAITSHARE_CLASSES]; /* 1: processes of this class are not read */
	/* address of the root frame, by a hash of the thread and of a part of its stack; 0: unknown */
	uint64_t top[WAITSHARE_TOPS];

	char bytes[WAITSHARE_BYTES];
};

/* Maps a zeroed object that forked processes share. Returns NULL on failure. */
struct waitshare *waitshare_new(void);
void waitshare_free(struct waitshare *waitshare);

/* Returns the class of a process; 0 if it is not known. */
uint8_t waitshare_class(const struct waitshare *waitshare, uint32_t pid);
/* For pjrecord: sets the class of a process, in place of another process whose pid has the same low bits. Class 0: the
 * process has ended, or its class is not known any more. */
void waitshare_set_class(struct waitshare *waitshare, uint32_t pid, uint8_t class);

/* For the writer: returns space for a copy of n bytes of stack, NULL if the ring is full. waitshare_publish publishes
 * that copy, of which all members but size are set; n may be smaller than before. */
struct waitcopy *waitshare_begin(struct waitshare *waitshare, size_t n);
void waitshare_publish(struct waitshare *waitshare, struct waitcopy *copy);

/* For the taker: sets *copy to the head of the copy at position *at, *stack to its bytes in the ring, and moves *at
 * behind it. Returns false if there is none yet. A ring that is malformed sets *broken and returns false. */
bool waitshare_next(const struct waitshare *waitshare, uint64_t *at, struct waitcopy *copy, const char **stack,
		    bool *broken);
/* Gives the space before position `at` back to the writer. */
void waitshare_drop(struct waitshare *waitshare, uint64_t at);
/* Returns the share of the ring that is in use, in thousandths. */
unsigned waitshare_level(const struct waitshare *waitshare);

/* Returns how many bytes of the stack of a thread are to be read from sp on: up to its root frame, which stays where it
 * is. */
size_t waitshare_wanted(const struct waitshare *waitshare, uint32_t tid, uint64_t sp);
/* Stores that the root frame is `used` bytes above sp; SIZE_MAX: above all bytes that were read. */
void waitshare_learn(struct waitshare *waitshare, uint32_t tid, uint64_t sp, size_t used);

#endif
