/* SPDX-License-Identifier: Apache-2.0 */
/*
 * syncread.h - the synchronous reader: reads memory of a sampled thread before the thread runs its next instruction.
 *
 * Each CPU has one reader thread, pinned to it, with the lowest real-time priority. A sample wakes the reader, which
 * thereby preempts the sampled thread. The reader copies the thread's frames by the plan of its process
 * (runtimes/threadcopy.h), through a descriptor of /proc/PID/mem, into its own ring. No thread is started before the
 * first process is registered. A CPU is parked if no registered thread was sampled there for `hold_ns`: samples on a
 * parked CPU wake no reader.
 *
 * A copy is valid only if the sampled thread did not run while it was made. Records of context switches and migrations
 * prove that afterwards (certificate.h), and syncread_verdict returns the result. Callers must not show a copy without
 * the verdict SYNCREAD_CERTIFIED.
 *
 * Threads: one consumer thread calls syncread_take and syncread_defer and polls syncread_copies_fd. The main thread
 * calls all other functions and drains the rings. The consumer may be the main thread.
 *
 * Use, in the main thread:
 *   sr = syncread_new(&options);                      starts nothing yet
 *   syncread_add_process, syncread_add_thread         when a helper process has found a runtime and its threads
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

/* Options of syncread_new; 0 in a member selects its default. `sources` and `rings` must outlive the synchronous
 * reader. */
struct syncread_options {
	struct sources *sources;
	struct rings *rings;
	uint64_t budget_ns; /* CPU time in ns that one reader thread may use per second; default SYNCREAD_BUDGET_NS */
	uint64_t hold_ns;   /* ns without samples of registered threads after which a CPU is parked; default 10 s */
	/* Maximum number of records of switches per second and CPU, default SYNCREAD_SWITCHES. Above it, the records of
	 * the CPU pause for SYNCREAD_PAUSE_NS. */
	uint32_t switches;
	/* scheduling policy to try first; later ones of the enum are tried if the kernel refuses it */
	enum syncread_class best;
};

#define SYNCREAD_BUDGET_NS UINT64_C(100000000)
#define SYNCREAD_HOLD_NS UINT64_C(10000000000)
#define SYNCREAD_PAUSE_NS UINT64_C(1000000000)
#define SYNCREAD_SWITCHES 20000u

/* Counters since the start; the comment of each names what it counts. */
struct syncread_counters {
	uint64_t samples; /* samples of registered threads that readers saw */
	uint64_t copies;  /* copies of frames that readers made */
	uint64_t failed;  /* copies of frames in which a read failed (THREADCOPY_FAILED) */
	uint64_t verdicts[SYNCREAD_VERDICTS];
	uint64_t over_budget; /* samples without a copy because the reader had used up its CPU time */
	uint64_t ring_full;   /* samples without a copy because the ring of copies was full */
	/* samples without a copy because a newer sample arrived, or because the reader was awake at the sample */
	uint64_t missed;
	uint64_t off;        /* samples without a copy because records of switches were off on the CPU */
	uint64_t overrun;    /* wakeups at which the ring had more new records than a reader may handle */
	uint64_t ns, wakes;  /* total ns between wakeup and sleep of all readers; number of wakeups */
	uint64_t longest_ns; /* longest time in ns between wakeup and sleep */
	/* times that a reader lost SCHED_FIFO because it used READERTHREAD_BOUND_NS of CPU time without sleep */
	uint64_t demoted;
	/* samples without a copy because another reader's read of the process took more than READERTHREAD_SLOW_NS */
	uint64_t slow;
	uint64_t hung;      /* reads of memory that hung; each time, all processes of the tenant were removed */
	uint64_t blocked;   /* processes that were removed because memory of their tenant often blocks readers */
	uint64_t abandoned; /* readers that have not returned from a read, at present */
	uint64_t switches;  /* records of context switches and migrations that were read */
	uint64_t pauses;    /* times that the records of switches of a CPU were paused because of their rate */
	/* attempts to activate a CPU that failed: no thread, no records of switches, or no wakeup by samples */
	uint64_t wakes_refused;
	/* Current state. */
	uint32_t processes, threads;           /* registered processes and threads */
	uint32_t active, readers;              /* CPUs whose samples wake a reader; reader threads */
	uint32_t readers_of[SYNCREAD_CLASSES]; /* reader threads by scheduling policy */
};

struct syncread;

/* Returns a synchronous reader that has started no thread yet; never NULL. */
struct syncread *syncread_new(const struct syncread_options *options);
/* Ends all threads and closes all descriptors, within 2 s. A thread that hangs in a read continues to exist, with the
 * memory that it uses. Accepts NULL. */
void syncread_free(struct syncread *syncread);

/* A process to register. memory: descriptor of its /proc/PID/mem, opened by a helper process after taskid_check; the
 * kernel binds the descriptor to the address space of the process. since: time in ns at which taskid_check identified
 * the process. */
struct syncread_process {
	uint32_t pid;
	struct tenant tenant;
	int memory;
	const struct threadplan *plan;
	uint64_t since;
};

/* Registers a process, and first removes a registered process with the same pid. Takes over process->memory and closes
 * it, also on failure. The first registration starts the reader threads. Returns false if a limit is reached
 * (threadtable.h), the tenant is avoided, or the plan is invalid. */
bool syncread_add_process(struct syncread *syncread, const struct syncread_process *process);
/* Registers a thread of a registered process, or changes its root. since: time in ns before the root was read from the
 * process. A record of the thread's end at `since` or later removes the thread; a record of its process's exec at the
 * `since` of the process or later removes the process. Returns false if the process is not registered or a limit is
 * reached. */
bool syncread_add_thread(struct syncread *syncread, uint32_t pid, uint32_t tid, uint64_t root, uint64_t since);
void syncread_remove_thread(struct syncread *syncread, uint32_t tid);
/* Removes a process and its threads. */
void syncread_remove_process(struct syncread *syncread, uint32_t pid);
/* Returns true if the process is registered. The synchronous reader itself removes a process that calls exec or whose
 * memory blocks reader threads. */
bool syncread_has_process(const struct syncread *syncread, uint32_t pid);
/* Sets *root to the address of the interpreter's state of the thread, as given to syncread_add_thread, and returns
 * true. If the thread is not registered, sets *root to 0 and returns false. */
bool syncread_has_thread(const struct syncread *syncread, uint32_t tid, uint64_t *root);

/* Returns a descriptor that is readable while copies wait, until syncread_take. Valid from syncread_new to
 * syncread_free. Waking the consumer takes 30 of the 97 us of a reader's wakeup. Still, copies should not wait: of a
 * program that makes new code all the time, 4 of 3,949 stacks had wrong names when the names were read up to 5 ms
 * later. */
int syncread_copies_fd(const struct syncread *syncread);
/* Starts (deferred true) or ends the deferral of a process: its copies do not make syncread_copies_fd readable while
 * less than an eighth of the ring of copies is used. Called by the consumer, which must then call syncread_take in time
 * on its own. After the end of a deferral the consumer must call syncread_take once, because a copy may have arrived
 * before. Of two processes with equal pids modulo 1024, only the last one is deferred. */
void syncread_defer(struct syncread *syncread, uint32_t pid, bool deferred);

/* Calls fn with each copy that waits at the time of the call, until fn returns false. A copy is valid until fn
 * returns. Copies that arrive meanwhile wait for the next call. Returns the number of copies passed to fn. */
size_t syncread_take(struct syncread *syncread, bool (*fn)(void *to, const struct threadcopy *copy), void *to);

/* Returns a descriptor for poll by the main thread. It becomes readable when a ring of switches is half full, or a
 * sample ring of an active CPU more than half full: the main thread does not poll these rings. syncread_settle clears
 * it. */
int syncread_fd(const struct syncread *syncread);

/* Reads the records of switches, decides which copies are certified, parks CPUs, and frees memory that no reader uses
 * any longer. Must be called at least twice a second and before each rings_drain. If no process is registered, it costs
 * only a few memory loads. */
void syncread_settle(struct syncread *syncread);

/* Removes the thread of an EXIT or FORK record, or the process of a COMM record with the exec flag. */
void syncread_state(struct syncread *syncread, const struct ring_record *record);

/* A sample. registers: its user registers, as processor_here()->perf selects them; without them no copy is certified.
 */
struct syncread_sample {
	uint32_t cpu, tid;
	bool in_kernel; /* true if the sample was taken in kernel mode */
	uint64_t time;
	const uint64_t *registers;
	size_t nregisters;
};

/* Returns the verdict on the copy of a sample and deletes it, so call it once for each sample. Activates a parked CPU
 * if the thread is registered. Copies are decided about 10 ms after the sample; a call before that gets SYNCREAD_LATE.
 * Verdicts that are not fetched are deleted after 10 s. */
enum syncread_verdict syncread_verdict(struct syncread *syncread, const struct syncread_sample *sample);

/* Returns the sum of the counters of the main thread and of all reader threads. */
struct syncread_counters syncread_counters(const struct syncread *syncread);

#endif
