/* SPDX-License-Identifier: Apache-2.0 */
/*
 * certificate.h - decides from records of context switches, for each copy of the synchronous reader, if the sampled
 * thread ran between the sample and the end of the copy. Pure: no system calls.
 *
 * T is the sampled thread, R the reader thread of its CPU. A copy is certified if the records prove all of this:
 *  - R slept when the sample was taken: R last left the CPU without preemption, after it began to wait for samples.
 *    Otherwise T may have run on after the sample until R was ready.
 *  - The first switch on the CPU after the sample is from T, preempted, to R, within CERTIFICATE_DELAY_NS. With
 *    SCHED_FIFO the sample's wakeup preempts T before T returns to user code. The exception is real-time throttling,
 *    in which the kernel reserves CPU time for other threads: hence the limit. (Measured: 44,400 copies, 0 wrong at
 *    any delay; 0.1 % were later than 200 us.) With other scheduling policies the kernel may let T continue for a
 *    while: then the same records prove nothing, and the verdict is SYNCREAD_WEAK. (Measured within 100 us: 38 of
 *    20,415 copies wrong with nice -20, 10 of 6,201 with nice 0; within 40 us: none.)
 *  - T's user registers at that switch equal T's user registers at the sample (userregs.h). (Without this check, one
 *    of some 1,000 copies beside a real-time loop was wrong in two runs of three on one machine: the kernel's deadline
 *    server for normal threads, which runs T in place of R, can end within the limit after a sample.)
 *  - No CPU switched to T before the end of the copy. On the CPU of the sample, records of switches prove that. To run
 *    on another CPU, T would have to migrate: records of migrations (PERF_COUNT_SW_CPU_MIGRATIONS) prove that it did
 *    not, and they are far fewer than switches; records of switches prove it, too. If a CPU has neither, the next
 *    switch on R's CPU must be from R directly to T: then T could have run elsewhere in between only if it migrated
 *    twice.
 *
 * The caller passes records in order of time. It must pass a copy before any record that is later than the copy's
 * sample; otherwise the copy gets SYNCREAD_LATE. All times are in ns of CLOCK_MONOTONIC.
 */
#ifndef PJ_CERTIFICATE_H
#define PJ_CERTIFICATE_H

#include "record/syncread/userregs.h"

/* With SYNCREAD_FIFO: maximum time in ns from the sample to the switch to the reader; after a later switch, the verdict
 * is SYNCREAD_DELAYED. */
#define CERTIFICATE_DELAY_NS UINT64_C(200000)
/* With other scheduling policies than SYNCREAD_FIFO: maximum time in ns from the sample to the switch to the reader;
 * after a later switch, the verdict is SYNCREAD_DELAYED. Wrong copies occurred from 50 us on. */
#define CERTIFICATE_DELAY_WEAK_NS UINT64_C(40000)
/* If records of other CPUs are missing: time in ns after a copy within which the CPU of the sample must switch from the
 * reader directly to the sampled thread; otherwise the verdict is SYNCREAD_UNWATCHED. */
#define CERTIFICATE_RETURN_NS UINT64_C(10000000)
#define CERTIFICATE_CPUS 8192u /* maximum number of CPUs; copies of CPUs with a larger number get no certificate */
#define CERTIFICATE_OPEN 4096u /* maximum number of undecided copies of one CPU; further copies get SYNCREAD_LATE */
/* maximum number of verdicts that are stored until certificate_take; further ones are dropped */
#define CERTIFICATE_KEPT 1048576u

/* Scheduling policies of reader threads, best first. A thread without the right to one policy gets the next one. */
enum syncread_class {
	SYNCREAD_FIFO,   /* SCHED_FIFO, priority 1; needs CAP_SYS_NICE */
	SYNCREAD_URGENT, /* SCHED_OTHER, nice -20, short time slices; needs CAP_SYS_NICE */
	SYNCREAD_NORMAL, /* SCHED_OTHER, nice 0 */
	SYNCREAD_CLASSES
};

enum syncread_verdict {
	SYNCREAD_CERTIFIED, /* the sampled thread did not run between the sample and the end of the copy */
	/* same records as for SYNCREAD_CERTIFIED, but they prove nothing with the reader's scheduling policy */
	SYNCREAD_WEAK,
	/* no copy exists: the thread is not registered, or the reader skipped it (see syncread_counters) */
	SYNCREAD_NO_COPY,
	/* the thread's entry in the thread table was removed or replaced since the copy (end, exec, new root), so that
	 * the copy may have begun at an outdated root */
	SYNCREAD_RENEWED,
	SYNCREAD_NO_SWITCH, /* the first switch after the sample was not from the thread to the reader */
	/* the switch from the thread to the reader came more than CERTIFICATE_DELAY_NS (CERTIFICATE_DELAY_WEAK_NS
	 * without SCHED_FIFO) after the sample */
	SYNCREAD_DELAYED,
	SYNCREAD_CONTINUED, /* the thread's user registers changed between sample and switch, or are unknown */
	SYNCREAD_RESUMED,   /* the thread ran on a CPU before the copy ended */
	SYNCREAD_AWAKE,     /* the reader thread was not asleep when the sample was taken */
	SYNCREAD_LOST,      /* records of switches are missing: the kernel dropped them, or events were closed */
	SYNCREAD_UNWATCHED, /* records of switches were off on a CPU where the thread may have run */
	SYNCREAD_LATE,      /* the copy or its records of switches arrived too late for a decision */
	SYNCREAD_VERDICTS
};

/* Returns the name of a verdict for messages and metrics, such as "certified" or "no switch". */
const char *syncread_verdict_name(enum syncread_verdict verdict);

/* Facts about one copy, as the CPU's reader thread noted them. Times in ns of CLOCK_MONOTONIC. */
struct certificate_copy {
	uint32_t cpu, tid;     /* CPU and thread of the sample */
	uint32_t reader;       /* tid of the reader thread */
	uint32_t class;        /* scheduling policy of the reader thread, an enum syncread_class */
	uint64_t serial;       /* serial of the thread's table entry (threadtable.h); certificate_take returns it */
	uint64_t waited;       /* time just before the reader began to wait for samples */
	uint64_t time;         /* time of the sample */
	uint64_t begun, ended; /* times before the first and after the last read of the target's memory */
};

/* A context switch on a CPU: thread `tid` leaves the CPU (out) or enters it. other: thread that runs there after `tid`
 * left, or ran before `tid` entered. */
struct certificate_switch {
	uint32_t cpu, tid, other;
	bool out, preempted; /* out: true: `tid` leaves the CPU; preempted: true: it left although it was runnable */
	uint64_t time;
	struct userregs registers; /* user registers of `tid`, set only if it leaves */
};

/* A verdict, and the serial and registers that the caller must compare with those of the copy and of the sample before
 * it trusts the verdict. */
struct certificate_result {
	enum syncread_verdict verdict;
	uint64_t serial;           /* serial of the copy's table entry (threadtable.h) */
	struct userregs registers; /* user registers of the sampled thread when it left the CPU to the reader */
};

struct certificate;

struct certificate *certificate_new(void);
/* Frees the state and all verdicts. Accepts NULL. */
void certificate_free(struct certificate *certificate);

/* Declares that the records of switches of a CPU are complete from `time` on (on true), or that they end at `time` (on
 * false). The module assumes that no thread runs on a CPU for which this function was never called, so the caller must
 * call it for each online CPU. */
void certificate_watch(struct certificate *certificate, uint32_t cpu, bool on, uint64_t time);
/* Declares that the records of migrations to a CPU are complete from `time` on (on true), or that they end at `time`
 * (on false). */
void certificate_watch_arrivals(struct certificate *certificate, uint32_t cpu, bool on, uint64_t time);
/* Sets the reader thread of a CPU. */
void certificate_reader(struct certificate *certificate, uint32_t cpu, uint32_t tid);
/* Deletes the state of a CPU that went offline. Its copies whose thread has not left the CPU yet get
 * SYNCREAD_UNWATCHED. */
void certificate_without(struct certificate *certificate, uint32_t cpu);
void certificate_add(struct certificate *certificate, const struct certificate_copy *copy);
void certificate_pass(struct certificate *certificate, const struct certificate_switch *change);
/* Passes a record of a migration: thread `tid` begins to run on a CPU to which it migrated. */
void certificate_arrive(struct certificate *certificate, uint32_t cpu, uint32_t tid, uint64_t time);
/* Declares that records up to `time` may be missing. All undecided copies get SYNCREAD_LOST, and so do copies added
 * later whose sample is not after `time`. Must be called before the records after the gap are passed. */
void certificate_lose(struct certificate *certificate, uint64_t time);
/* Declares that all records before `time` were passed. Decides the copies that ended before `time`; a copy without
 * records of all CPUs may remain undecided for CERTIFICATE_RETURN_NS more. */
void certificate_advance(struct certificate *certificate, uint64_t time);

/* Deletes the verdict on the copy of thread `tid` for the sample at `time`, and returns it. SYNCREAD_CERTIFIED and
 * SYNCREAD_WEAK are valid only if the returned registers equal the user registers of the sample. SYNCREAD_NO_COPY: no
 * copy was added for the sample. SYNCREAD_LATE: the copy is undecided. */
struct certificate_result certificate_take(struct certificate *certificate, uint32_t tid, uint64_t time);
/* Deletes the verdicts on samples before `time`. */
void certificate_expire(struct certificate *certificate, uint64_t time);

#endif
