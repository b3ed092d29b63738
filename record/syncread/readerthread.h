/* SPDX-License-Identifier: Apache-2.0 */
/*
 * readerthread.h - the reader thread of one CPU: pinned, woken by samples, it copies the stack of the sampled thread.
 *
 * It maps the ring for samples a second time, read-only, and follows it with a cursor of its own. It allocates nothing,
 * and waits for nothing but samples and its control descriptor. A read of a target's memory may hang in the kernel:
 * then the owner gives the thread up (readerthread_end, readerthread_release), and it frees what it holds when it
 * returns.
 *
 * Bounds of a thread with real-time priority: at most READERTHREAD_RECORDS records of the ring, THREADCOPY_READS reads
 * and THREADCOPY_BYTES bytes for one wake; budget_ns of CPU time per second, after which it sleeps; and at last a timer
 * of its CPU time, by which the kernel interrupts it: a thread that ran for READERTHREAD_BOUND_NS without sleep gets
 * SCHED_OTHER for a second, and for longer each time. RLIMIT_RTTIME is not used: it belongs to the process, helpers and
 * the command of pjrecord inherit it, and its hard limit ends the process.
 */
#ifndef PJ_READERTHREAD_H
#define PJ_READERTHREAD_H

#include "record/syncread/copyring.h"
#include "record/syncread/threadtable.h"

#include <linux/perf_event.h>
#include <time.h>

#define READERTHREAD_RECORDS 256u
#define READERTHREAD_BOUND_NS UINT64_C(5000000)
#define READERTHREAD_DEMOTED_NS UINT64_C(1000000000) /* time until it gets its class back; doubles up to 64 times */
/* Duration in ns of one copy after which other readers skip the process. */
#define READERTHREAD_SLOW_NS UINT64_C(20000000)
#define READERTHREAD_SUSPECT_NS UINT64_C(1000000) /* duration of a copy that makes its process suspect */
#define READERTHREAD_NAP_NS UINT64_C(5000000)     /* sleep of a thread that is over budget */

#define READERTHREAD_GIVEN_UP 1u
#define READERSHARED_DEFERRED 1024u /* a process has the place of its pid, modulo this number */

/* What all reader threads share. The last owner of `users` frees it. */
struct readershared {
	struct threadtable *threads;
	int copies_fd, rings_fd; /* eventfds: copies wait; a ring is over half full */
	uint32_t armed;          /* 1: the next copy makes copies_fd readable */
	/* Processes whose copies do not make copies_fd readable, as long as a ring of copies has space; 0: none. */
	uint32_t deferred[READERSHARED_DEFERRED];
	uint32_t users;
	uint64_t budget_ns;
	enum syncread_class best;
	struct perf_event_attr format; /* of the samples; sample_stack_user is 0 if their stacks are not copied */
};

/* Counters of a thread, see struct syncread_counters. */
struct readercounters {
	uint64_t samples, copies, failed, over_budget, ring_full, off, missed, slow, overrun, ns, wakes, longest_ns,
		demoted;
};

struct readerthread {
	struct readershared *shared;
	uint32_t cpu;
	uint32_t users; /* the owner and the thread */
	int ring, control;
	const struct perf_event_mmap_page *page;
	const char *data;
	size_t size;

	/* written by the owner */
	uint32_t active, watched, end;
	/* written by the thread; tid is 0 until it has started */
	uint32_t tid, class, ended, broken;
	/* Number of the copy for which it reads memory of a target, from 2; 0: it reads none; or READERTHREAD_GIVEN_UP.
	 */
	uint32_t reading;
	struct tenant reading_tenant; /* of the process that it reads */
	uint64_t busy_since;          /* time of the wake; 0: asleep */
	uint64_t sampled;             /* time at which it last found a sample of a registered thread */
	struct readercounters counters;
	struct threadtable_epoch epoch;
	struct copyring copies;

	/* of the thread alone */
	uint32_t next; /* number of the next copy */
	uint64_t cursor, waited, spent, refilled, checked;
	uint64_t demoted_at; /* time at which it lost its class; 0: it has it */
	unsigned regained;   /* number of times that it got its class back */
	uint64_t blocked;    /* ns of this wake for which memory of a target blocked it */
	bool full, bounded;  /* bounded: `bound` is the timer of its CPU time */
	timer_t bound;
};

/* Returns a reader for the ring of descriptor `ring`, which it duplicates, and starts its thread, parked. Returns NULL
 * with errno on failure. */
struct readerthread *readerthread_start(struct readershared *shared, uint32_t cpu, int ring, size_t bytes);
/* Starts and stops the reading of samples. watched: the records of switches are complete; otherwise nothing is copied.
 */
void readerthread_set(struct readerthread *reader, bool active, bool watched);
/* Gives up a thread that hangs in a copy, by its number in `reading`: it uses no entry of the table any longer when it
 * returns. The owner requests its end then. Returns false if it has just returned. */
bool readerthread_give_up(struct readerthread *reader, uint32_t copy);
/* Requests the end of the thread; readerthread_has_ended returns true once it uses nothing that is shared. */
void readerthread_end(struct readerthread *reader);
bool readerthread_has_ended(const struct readerthread *reader);
/* Gives up the reader. The memory is freed when the thread has ended, too. */
void readerthread_release(struct readerthread *reader);

void readershared_release(struct readershared *shared);

#endif
