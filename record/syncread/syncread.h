/* SPDX-License-Identifier: Apache-2.0 */
/*
 * syncread.h - reads memory of a sampled thread before the thread runs its next instruction: the synchronous reader.
 *
 * Each CPU has one reader thread, pinned to it, with the lowest real-time priority. A sample wakes it, so it preempts
 * the sampled thread; it follows the thread's plan (runtimes/threadcopy.h) through the memory descriptor of the process
 * and puts the copy into a ring of its own. Nothing is started before the first process is registered. Reader threads
 * are blocked, and samples wake no thread, on CPUs where no registered thread was sampled for `hold_ns`.
 *
 * A copy is right only if the sampled thread did not run during it. Records of context switches and migrations prove
 * that afterwards (certificate.h): syncread_verdict returns the result. A copy without the verdict SYNCREAD_CERTIFIED
 * must not be shown.
 *
 * Threads: syncread_take and its descriptor belong to one consumer thread; all other functions belong to the main
 * thread, which also drains the rings. The consumer may be the main thread.
 *
 * Use, in the main thread:
 *   sr = syncread_new(&options);                      nothing happens yet
 *   syncread_add_process, syncread_add_thread         when a helper has found a runtime and its threads
 *   syncread_settle(sr)                               before each rings_drain, and when syncread_fd is readable
 *   in the callback of rings_drain, in order of time:
 *     syncread_state(sr, record)                      for each record of RING_OF_STATE
 *     syncread_verdict(sr, &sample)                   for each sample
 *   syncread_free(sr)
 */
#ifndef PJ_SYNCREAD_H
#define PJ_SYNCREAD_H

#include "common/process/tenants.h"
#include "record/perf/rings.h"
#include "record/perf/sources.h"
#include "record/syncread/certificate.h"
#include "runtimes/threadcopy.h"

/* Options. Zero selects a default. sources and rings must outlive the reader. */
struct syncread_options {
	struct sources *sources;
	struct rings *rings;
	uint64_t budget_ns; /* ns of a second for which one reader thread may run; default SYNCREAD_BUDGET_NS */
	uint64_t hold_ns;   /* time after the last sample of a registered thread until a CPU is parked; default 10 s */
	/* maximum number of records of switches per second and CPU: above it they stop for SYNCREAD_PAUSE_NS */
	uint32_t switches;
	enum syncread_class best; /* the class that is tried first */
};

#define SYNCREAD_BUDGET_NS UINT64_C(100000000)
#define SYNCREAD_HOLD_NS UINT64_C(10000000000)
#define SYNCREAD_PAUSE_NS UINT64_C(1000000000)
#define SYNCREAD_SWITCHES 20000u

/* Counters since the start. */
struct syncread_counters {
	uint64_t samples; /* samples of registered threads that readers found */
	uint64_t copies;  /* copies that were made */
	uint64_t failed;  /* of these: a read failed (THREADCOPY_FAILED) */
	uint64_t verdicts[SYNCREAD_VERDICTS];
	uint64_t over_budget;   /* samples without a copy: the reader had no CPU time left */
	uint64_t ring_full;     /* samples without a copy: the ring of copies was full */
	uint64_t missed;        /* samples without a copy: a newer sample came, or the reader was awake at the sample */
	uint64_t off;           /* samples without a copy: records of switches were off on that CPU */
	uint64_t overrun;       /* wakes at which the ring had more new records than a reader looks at */
	uint64_t ns, wakes;     /* ns between wake and sleep of all readers, and number of wakes */
	uint64_t longest_ns;    /* longest time between wake and sleep */
	uint64_t demoted;       /* readers that lost their class because they ran too long without sleep */
	uint64_t slow;          /* samples without a copy: another reader has read memory of the process for long */
	uint64_t hung;          /* reads of memory that hang: the processes of the tenant were removed */
	uint64_t blocked;       /* processes that were removed because memory of their tenant often blocks readers */
	uint64_t abandoned;     /* readers that did not return from a read, up to now */
	uint64_t switches;      /* records of switches and migrations that were read */
	uint64_t pauses;        /* times that records of switches were stopped on a CPU because of their rate */
	uint64_t wakes_refused; /* CPUs whose samples could not be made to wake a reader, or without a thread */
	/* state now */
	uint32_t processes, threads;           /* registered */
	uint32_t active, readers;              /* CPUs whose samples wake a reader; reader threads */
	uint32_t readers_of[SYNCREAD_CLASSES]; /* reader threads by class */
};

struct syncread;

/* Returns a reader that has not started. It never fails. */
struct syncread *syncread_new(const struct syncread_options *options);
/* Ends all threads and closes all descriptors, within 2 s: a thread that hangs in a read is left behind with the memory
 * that it uses. Accepts NULL. */
void syncread_free(struct syncread *syncread);

/* A process to register. memory: descriptor of its /proc/PID/mem, opened by a helper after taskid_check; it is bound to
 * the address space of the process. since: time in ns at which taskid_check identified the process. */
struct syncread_process {
	uint32_t pid;
	struct tenant tenant;
	int memory;
	const struct threadplan *plan;
	uint64_t since;
};

/* Registers a process. The reader closes its descriptor, also on failure. A process with the same pid that is
 * registered already is removed first. The first registration starts the reader threads. Returns false if a limit is
 * reached (threadtable.h). */
bool syncread_add_process(struct syncread *syncread, const struct syncread_process *process);
/* Registers a thread of a registered process, or changes its root. `since`: time in ns before the root was read from
 * the process. Records of the thread's end, or of its process's exec, that are not older than `since` make it invalid.
 * Returns false if the process is not registered or a limit is reached. */
bool syncread_add_thread(struct syncread *syncread, uint32_t pid, uint32_t tid, uint64_t root, uint64_t since);
void syncread_remove_thread(struct syncread *syncread, uint32_t tid);
/* Removes a process and its threads. */
void syncread_remove_process(struct syncread *syncread, uint32_t pid);
/* Returns true if the process is registered. The reader removes one that calls exec, and one whose memory blocks its
 * threads. */
bool syncread_has_process(const struct syncread *syncread, uint32_t pid);
/* Returns true if the thread is registered; *root is its root. */
bool syncread_has_thread(const struct syncread *syncread, uint32_t tid, uint64_t *root);

/* Descriptor that becomes readable when copies wait, until syncread_take. Valid from syncread_new to syncread_free. To
 * wake the consumer takes 30 of the 97 us of a reader's wake here, but names that were read up to 5 ms later were
 * wrong: 4 of 3,949 stacks of a program that makes new code all the time. */
int syncread_copies_fd(const struct syncread *syncread);
/* Defers the copies of a process, or ends that: they do not make that descriptor readable, as long as there is space
 * for many more. The consumer calls this, and syncread_take in time. After the end it calls syncread_take, too: a copy
 * may have come before. Of two processes whose pids are equal modulo 1024 only the last one is deferred. */
void syncread_defer(struct syncread *syncread, uint32_t pid, bool deferred);

/* Calls fn with each copy that waits at the time of the call, until fn returns false; the copy is valid until fn
 * returns. Copies that come meanwhile wait for the next call. Returns the number of copies. */
size_t syncread_take(struct syncread *syncread, bool (*fn)(void *to, const struct threadcopy *copy), void *to);

/* Descriptor that becomes readable when a ring for samples is over half full on a CPU whose reader is active, since the
 * main thread does not poll such rings (rings_fds omits them), or when a ring for switches is half full.
 * syncread_settle makes it unreadable again. */
int syncread_fd(const struct syncread *syncread);

/* Takes the records of switches, decides which copies are certified, parks CPUs, and frees what no reader uses
 * any longer. To be called at least twice a second and before each rings_drain; costs a few loads if nothing is
 * registered. */
void syncread_settle(struct syncread *syncread);

/* Removes the thread or process whose EXIT, FORK or COMM record (with exec) this is. */
void syncread_state(struct syncread *syncread, const struct ring_record *record);

/* A sample, with its user registers as processor_here()->perf selects them. Without these no copy is certified. */
struct syncread_sample {
	uint32_t cpu, tid;
	bool in_kernel; /* sampled in kernel mode */
	uint64_t time;
	const uint64_t *registers;
	size_t nregisters;
};

/* Returns the verdict on the copy of a sample, once for each sample: the verdict is forgotten then. Activates a parked
 * CPU if the thread is registered. Copies are decided about 10 ms after the sample; before that the verdict is
 * SYNCREAD_LATE. Verdicts that are not requested are forgotten after 10 s. */
enum syncread_verdict syncread_verdict(struct syncread *syncread, const struct syncread_sample *sample);

/* Sums the counters of all threads. */
struct syncread_counters syncread_counters(const struct syncread *syncread);

#endif
