/* SPDX-License-Identifier: Apache-2.0 */
/*
 * readerthread.h - the reader thread of one CPU: it is pinned there, wakes up at each sample and copies the frames of
 * the sampled thread.
 *
 * It maps the ring for samples a second time, read-only, with a cursor of its own. It allocates no memory, and waits
 * only for samples and for its control descriptor. A read of a target's memory may hang in the kernel. Then the owner
 * gives the thread up (readerthread_end, readerthread_release), and the thread frees its memory when the read returns.
 *
 * Four bounds keep a thread with real-time priority from using up a CPU:
 *  - one wakeup handles at most READERTHREAD_RECORDS records of the ring;
 *  - it does at most THREADCOPY_READS reads, of THREADCOPY_BYTES bytes in total;
 *  - the thread sleeps after budget_ns of CPU time per second;
 *  - a timer of its CPU time interrupts it: a thread that ran for READERTHREAD_BOUND_NS without sleep gets SCHED_OTHER
 *    for a second, and twice as long each further time.
 *
 * RLIMIT_RTTIME is not used: it applies to the whole process, the helper processes and the command of pjrecord inherit
 * it, and its hard limit kills the process.
 */
#ifndef PJ_READERTHREAD_H
#define PJ_READERTHREAD_H

#include "record/syncread/copyring.h"
#include "record/syncread/threadtable.h"

#include <linux/perf_event.h>
#include <time.h>

#define READERTHREAD_RECORDS 256u
#define READERTHREAD_BOUND_NS UINT64_C(5000000)
/* time in ns after which a demoted thread regains its policy; doubles with each demotion, up to 64 times this value */
#define READERTHREAD_DEMOTED_NS UINT64_C(1000000000)
/* Time in ns without demotion after which earlier demotions are forgotten. */
#define READERTHREAD_FORGET_NS UINT64_C(3600000000000)
/* ns that one copy of a process may take before other reader threads skip the process */
#define READERTHREAD_SLOW_NS UINT64_C(20000000)
/* duration in ns of one copy that makes its process suspect: waits for memory are measured in its later copies */
#define READERTHREAD_SUSPECT_NS UINT64_C(1000000)
#define READERTHREAD_NAP_NS UINT64_C(5000000) /* sleep in ns of a thread that has used up its budget */

#define READERTHREAD_GIVEN_UP 1u
/* number of slots of `deferred`; the slot of a process is its pid modulo this number */
#define READERSHARED_DEFERRED 1024u

/* State that all reader threads and their owner share. It is freed when the last of its `users` references ends. */
struct readershared {
	struct threadtable *threads;
	/* eventfds. copies_fd: copies wait for the consumer. rings_fd: a ring for samples is over half full. */
	int copies_fd, rings_fd;
	/* 1: the next copy makes copies_fd readable, and sets this to 0; syncread_take sets it to 1 again */
	uint32_t armed;
	/* Pids of deferred processes: their copies do not make copies_fd readable while the ring of copies has space;
	 * 0: empty slot. */
	uint32_t deferred[READERSHARED_DEFERRED];
	uint32_t users;
	uint64_t budget_ns;
	enum syncread_class best;
	/* attributes of the samples; sample_stack_user is 0 if samples have no stack copy */
	struct perf_event_attr format;
};

/* Counters of one reader thread; struct syncread_counters explains each. */
struct readercounters {
	uint64_t samples, copies, failed, over_budget, ring_full, off, missed, slow, overrun, ns, wakes, longest_ns,
		demoted;
};

struct readerthread {
	struct readershared *shared;
	uint32_t cpu;
	/* number of references to this struct: one of the owner, one of the running thread; the struct is freed when
	 * the last reference ends */
	uint32_t users;
	int ring, control;
	const struct perf_event_mmap_page *page;
	const char *data;
	size_t size;

	/* Written by the owner. active: 1: samples are read; watched: 1: records of switches are complete on the CPU;
	 * end: 1: the thread must end. */
	uint32_t active, watched, end;
	/* Written by the reader thread. tid: id of the thread, 0 until it runs; class: its scheduling policy, an enum
	 * syncread_class; ended: 1: the thread uses no shared state any more; broken: 1: the thread can no longer wait
	 * for samples. */
	uint32_t tid, class, ended, broken;
	/* Id of the copy for which the thread is reading memory of a target, 2 or more; 0: it reads none;
	 * READERTHREAD_GIVEN_UP: the owner gave the thread up. */
	uint32_t reading;
	struct tenant reading_tenant; /* tenant of the process whose memory is being read */
	uint64_t busy_since;          /* time in ns of the current wakeup; 0: the thread sleeps */
	uint64_t sampled;             /* time in ns of the newest sample of a registered thread */
	struct readercounters counters;
	struct threadtable_epoch epoch;
	struct copyring copies;

	/* Used by the reader thread only. */
	uint32_t next; /* id of the next copy */
	uint64_t cursor, waited, spent, refilled, checked;
	uint64_t demoted_at; /* time in ns at which the thread was demoted to SCHED_OTHER; 0: it is not demoted */
	/* regained: number of times that the thread regained SCHED_FIFO; forgotten after an hour without demotion.
	 * regained_at: time of the last one in ns */
	unsigned regained;
	uint64_t regained_at;
	uint64_t blocked; /* ns for which memory of a target blocked the thread in this wakeup */
	/* full: the ring for samples was more than half full at the last check; bounded: `bound` is a timer of the
	 * thread's CPU time */
	bool full, bounded;
	timer_t bound;
};

/* Creates a reader for the ring of descriptor `ring`, which it duplicates, and starts its thread, inactive. bytes:
 * size of the ring without its first page. Returns NULL with errno on failure. */
struct readerthread *readerthread_start(struct readershared *shared, uint32_t cpu, int ring, size_t bytes);
/* active: true: starts to read samples; false: stops. watched: true: records of switches are complete on this CPU;
 * false: they are not, so the thread copies no target memory. */
void readerthread_set(struct readerthread *reader, bool active, bool watched);
/* Gives up a thread that hangs while it makes copy `copy` (readerthread.reading): when its read returns, the thread
 * ends without using the thread table again. The owner calls readerthread_end immediately. Returns false, without
 * effect, if the thread finished the copy meanwhile. */
bool readerthread_give_up(struct readerthread *reader, uint32_t copy);
/* Requests the end of the thread. readerthread_has_ended returns true once the thread uses no shared state. */
void readerthread_end(struct readerthread *reader);
bool readerthread_has_ended(const struct readerthread *reader);
/* Drops the owner's reference to the struct, which is freed once the thread has ended, too. */
void readerthread_release(struct readerthread *reader);

void readershared_release(struct readershared *shared);

#endif
