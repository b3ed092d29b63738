/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waitshare.h - the memory that pjrecord shares with its helper process pjrecord-wait: copies of the stacks of sleeping
 * threads, counters, and the tenants of processes.
 *
 * The copies are in a ring with one writer, pjrecord-wait, and one reader, pjrecord. The writer never waits: it drops a
 * copy for which the ring has no space. pjrecord checks each size that it reads from the memory, since the other
 * process may be under an attacker's control.
 */
#ifndef PJ_WAITSHARE_H
#define PJ_WAITSHARE_H

#include "record/offcpu/waitqueue.h"

#define WAITSHARE_BYTES ((size_t)4 << 20) /* size of the ring of copies in bytes; a power of two */
/* maximum number of bytes of a copy of a stack; longer stacks are truncated. A perf record has at most 64 kB. */
#define WAITSHARE_STACK ((size_t)56 << 10)
/* maximum number of bytes of a copy if the address of the thread's root frame is not known yet */
#define WAITSHARE_FIRST ((size_t)16 << 10)
enum { WAITSHARE_TOPS = 4096, WAITSHARE_PIDS = 65536, WAITSHARE_CLASSES = 256 };

/* Handling of processes of class 0, whose tenant is unknown. WAITSHARE_ALL: they are read. WAITSHARE_SOME: they are not
 * read, because only some processes are recorded. WAITSHARE_AVOID: they are not read, because some tenant is
 * avoided. */
enum waitshare_strict { WAITSHARE_ALL, WAITSHARE_SOME, WAITSHARE_AVOID };

/* Result of the copy of a thread's interpreted frames (waitframes.h). WAITCOPY_NOT_ENTERED: pjrecord has not entered
 * the thread. WAITCOPY_FRAMES: the frames were copied after the stack. WAITCOPY_LEFT_OUT: limits prevented the copy. */
enum waitcopy_frames { WAITCOPY_NOT_ENTERED, WAITCOPY_FRAMES, WAITCOPY_LEFT_OUT };

/* Head of a copy in the ring; n bytes of the stack follow it, from sp on. */
struct waitcopy {
	uint32_t size; /* number of bytes from this head to the next one, a multiple of 8 */
	uint32_t n;
	uint32_t frames, zero; /* frames: enum waitcopy_frames; zero: padding */
	uint64_t begun, ended; /* times before and after the reads, in ns of CLOCK_MONOTONIC */
	struct wait wait;      /* the thread; wait.tid 0: skipped space, without a copy */
};

struct waitcounters {
	/* Numbers of stacks by result. copies: read. failed: the memory no longer exists. denied: the kernel refused.
	 * ring_full, queue_full: no space. over_budget: a limit of waitlimits.h. refused: the tenant is avoided.
	 * missed: number of gaps in the records of the rings. rounds: number of polls of the rings. */
	uint64_t copies, failed, denied, ring_full, queue_full, over_budget, refused, missed, rounds;
	/* frames: number of copies of interpreted frames. frames_over: number of copies that limits prevented.
	 * frames_full: number of copies for which their ring had no space. */
	uint64_t frames, frames_over, frames_full;
};

struct waitshare {
	/* position after the bytes that pjrecord-wait has written, in bytes since the ring's start; written by
	 * pjrecord-wait */
	uint64_t head;
	/* Written by pjrecord-wait. reading_since: start in ns (CLOCK_MONOTONIC) of the read that has not ended; 0: no
	 * read. reading_pid: process that is read. */
	uint64_t reading_since;
	uint32_t reading_pid;
	struct waitcounters counters;

	/* position after the bytes that pjrecord no longer needs, in bytes since the ring's start; written by pjrecord,
	 * like the following members */
	uint64_t tail;
	uint32_t strict; /* enum waitshare_strict */
	/* number that changes when pjrecord sets the class of a process while processes of class 0 are not read */
	uint32_t known;
	/* for each process: pid (upper 24 bits) and class (lower 8 bits, a hash of the tenant, from 1); index: pid
	 * modulo WAITSHARE_PIDS; 0: none */
	uint32_t process[WAITSHARE_PIDS];
	uint8_t refused[WAITSHARE_CLASSES]; /* 1: processes of the class are not read; 0: they are read; index: class */
	/* virtual address of the root frame; index: hash of the thread and of a part of its stack; 0: unknown */
	uint64_t top[WAITSHARE_TOPS];

	char bytes[WAITSHARE_BYTES];
};

/* Maps a zeroed struct waitshare as memory that forked processes share. Returns NULL on failure. */
struct waitshare *waitshare_new(void);
void waitshare_free(struct waitshare *waitshare);

/* Returns the class of a process; 0 if its tenant is unknown. */
uint8_t waitshare_class(const struct waitshare *waitshare, uint32_t pid);
/* Sets the class of a process, and thereby forgets another process whose pid has the same low bits. Class 0: the
 * process has ended, or its class is no longer known. Used by pjrecord. */
void waitshare_set_class(struct waitshare *waitshare, uint32_t pid, uint8_t class);

/* waitshare_begin returns space for a copy of n bytes of stack; NULL if the ring is full. waitshare_publish adds that
 * copy to the ring after all members but size are set; copy->n may be smaller than n. Used by pjrecord-wait. */
struct waitcopy *waitshare_begin(struct waitshare *waitshare, size_t n);
void waitshare_publish(struct waitshare *waitshare, struct waitcopy *copy);

/* Reads the copy at position *at: sets *copy to its head and *stack to its bytes in the ring, and sets *at to the
 * position after it. Returns false if there is no copy yet. If the ring is malformed, sets *broken to true and returns
 * false. Used by pjrecord. */
bool waitshare_next(const struct waitshare *waitshare, uint64_t *at, struct waitcopy *copy, const char **stack,
		    bool *broken);
/* Releases the space before position `at` of the ring to the writer. */
void waitshare_drop(struct waitshare *waitshare, uint64_t at);
/* Returns the used part of the ring, in thousandths of its size. */
unsigned waitshare_level(const struct waitshare *waitshare);

/* Returns the number of bytes of the stack of a thread to read from sp on: up to the stored address of its root frame,
 * or WAITSHARE_FIRST if the address is unknown. The address stays the same during the life of a thread. */
size_t waitshare_wanted(const struct waitshare *waitshare, uint32_t tid, uint64_t sp);
/* Stores that the root frame of a thread is `used` bytes above sp; SIZE_MAX: it is above all bytes that were read, so
 * that the next copy is as large as possible. */
void waitshare_learn(struct waitshare *waitshare, uint32_t tid, uint64_t sp, size_t used);

#endif
