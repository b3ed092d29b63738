/* SPDX-License-Identifier: Apache-2.0 */
/*
 * certificate.h - decides for each copy of the synchronous reader if the sampled thread ran between the sample and the
 * end of the copy, from the records of context switches. Pure.
 *
 * T is the sampled thread, R the reader thread of its CPU. A copy is certified if the records prove all of this:
 *  - R was asleep at the sample: the last time that R left the CPU before the sample it was not preempted, and that was
 *    after R began to wait for samples. Otherwise T may have run on after the sample, until R was ready.
 *  - The next switch on the CPU after the sample is T, preempted, to R, not later than CERTIFICATE_DELAY_NS. With
 *    SCHED_FIFO the sample's wake preempts T before it gets back to its code, unless the kernel keeps real-time threads
 * from the CPU for others to run: hence the limit. (Seen: 44,400 copies, 0 wrong at any delay; 0.1 % beyond 200 us.)
 * With other classes the kernel may let T continue for a while: the same records are no proof, only SYNCREAD_WEAK.
 * (Seen within 100 us: 38 of 20,415 wrong with nice -20, 10 of 6,201 with nice 0; within 40 us: none.)
 *  - T's user registers are the same at the sample and at that switch (userregs.h). (Without this, one of some 1,000
 * copies beside a real-time loop was wrong in two runs of three on one machine: the kernel's deadline server for normal
 * threads, which runs T in place of R, can end within the limit after a sample.)
 *  - No CPU switched to T before the end of the copy. For the CPU of the sample, its records of switches show that. On
 * any other CPU, T would have arrived by migration: records of arrivals (PERF_COUNT_SW_CPU_MIGRATIONS) show it, of
 * which there are far fewer than switches; records of switches do, too. If a CPU has neither, T must be the thread to
 * which R's CPU switches next, directly from R: T could have run elsewhere in between only if it had been migrated
 * twice.
 *
 * Records are passed in order of time. A copy must be passed before the records that are later than its sample: what
 * comes later gets SYNCREAD_LATE. Times are in ns of CLOCK_MONOTONIC.
 */
#ifndef PJ_CERTIFICATE_H
#define PJ_CERTIFICATE_H

#include "record/syncread/userregs.h"

#define CERTIFICATE_DELAY_NS UINT64_C(200000)     /* SYNCREAD_FIFO */
#define CERTIFICATE_DELAY_WEAK_NS UINT64_C(40000) /* other classes: wrong copies began 50 us after the sample */
/* Time after a copy within which T must return to the CPU if records of other CPUs are missing. */
#define CERTIFICATE_RETURN_NS UINT64_C(10000000)
#define CERTIFICATE_CPUS 8192u    /* maximum number of CPUs; others have no certificates */
#define CERTIFICATE_OPEN 4096u    /* maximum number of copies of a CPU that are not decided */
#define CERTIFICATE_KEPT 1048576u /* maximum number of verdicts that wait for certificate_take */

/* Scheduling classes of reader threads. Without the right to a class, a thread has the next one. */
enum syncread_class {
	SYNCREAD_FIFO,   /* SCHED_FIFO, priority 1: CAP_SYS_NICE */
	SYNCREAD_URGENT, /* nice -20 with short slices: CAP_SYS_NICE */
	SYNCREAD_NORMAL, /* nice 0 */
	SYNCREAD_CLASSES
};

enum syncread_verdict {
	SYNCREAD_CERTIFIED, /* the sampled thread ran nothing between the sample and the end of the copy */
	SYNCREAD_WEAK,      /* the records are as for CERTIFIED, but the reader's class makes that no proof */
	SYNCREAD_NO_COPY,   /* the thread is not registered, or its reader made no copy; the counters have the reason */
	SYNCREAD_RENEWED,   /* the thread ended, or its process called exec, before the sample: the root was outdated */
	SYNCREAD_NO_SWITCH, /* the thread did not leave the CPU to the reader as the next switch after the sample */
	SYNCREAD_DELAYED,   /* it left the CPU to the reader too late after the sample */
	SYNCREAD_CONTINUED, /* its registers at that switch are not those of the sample, or are not known */
	SYNCREAD_RESUMED,   /* it ran on a CPU before the copy ended */
	SYNCREAD_AWAKE,     /* the reader was not asleep at the sample */
	SYNCREAD_LOST,      /* records of switches were lost */
	SYNCREAD_UNWATCHED, /* records of switches were off on a CPU where the thread may have run */
	SYNCREAD_LATE,      /* the copy or its switches came after the call of syncread_verdict */
	SYNCREAD_VERDICTS
};

/* Text of a verdict for messages and metrics: "certified", "no switch". */
const char *syncread_verdict_name(enum syncread_verdict verdict);

/* A copy: what its reader thread noted. */
struct certificate_copy {
	uint32_t cpu, tid;     /* of the sample */
	uint32_t reader;       /* tid of R */
	uint32_t class;        /* enum syncread_class of R */
	uint64_t serial;       /* returned by certificate_take */
	uint64_t waited;       /* time before R began to wait for samples */
	uint64_t time;         /* of the sample */
	uint64_t begun, ended; /* before the first and after the last read */
};

/* A context switch: thread tid leaves or enters the CPU; `other` is the thread that enters or leaves. */
struct certificate_switch {
	uint32_t cpu, tid, other;
	bool out, preempted; /* preempted: it left the CPU though it can run */
	uint64_t time;
	struct userregs registers; /* of a thread that leaves */
};

/* A verdict, with what must be equal for it to hold. */
struct certificate_result {
	enum syncread_verdict verdict;
	uint64_t serial;           /* of the copy */
	struct userregs registers; /* of the thread when it left the CPU to the reader */
};

struct certificate;

struct certificate *certificate_new(void);
/* Accepts NULL. */
void certificate_free(struct certificate *certificate);

/* Sets that records of a CPU are complete from `time` on, or (false) that they end at `time`. A CPU that was never
 * passed is taken as one on which no thread runs: so each CPU that is online must be passed. */
void certificate_watch(struct certificate *certificate, uint32_t cpu, bool on, uint64_t time);
/* The same for records of arrivals. */
void certificate_watch_arrivals(struct certificate *certificate, uint32_t cpu, bool on, uint64_t time);
/* Sets the reader thread of a CPU. */
void certificate_reader(struct certificate *certificate, uint32_t cpu, uint32_t tid);
/* Forgets a CPU that is offline. Its undecided copies get SYNCREAD_UNWATCHED. */
void certificate_without(struct certificate *certificate, uint32_t cpu);
void certificate_add(struct certificate *certificate, const struct certificate_copy *copy);
void certificate_pass(struct certificate *certificate, const struct certificate_switch *change);
/* A thread begins to run on a CPU to which it was migrated. */
void certificate_arrive(struct certificate *certificate, uint32_t cpu, uint32_t tid, uint64_t time);
/* Records up to `time` may be missing: each undecided copy, and each later one whose sample is not after `time`, gets
 * SYNCREAD_LOST. To be called before the records after the gap are passed. */
void certificate_lose(struct certificate *certificate, uint64_t time);
/* All records before `time` were passed: decides all copies that ended before. */
void certificate_advance(struct certificate *certificate, uint64_t time);

/* Returns the verdict on the copy of the sample of a thread at a time, and forgets it. SYNCREAD_CERTIFIED and
 * SYNCREAD_WEAK hold only if the registers are those of the sample. SYNCREAD_NO_COPY: none was added. */
struct certificate_result certificate_take(struct certificate *certificate, uint32_t tid, uint64_t time);
/* Forgets verdicts on samples before `time`. */
void certificate_expire(struct certificate *certificate, uint64_t time);

#endif
