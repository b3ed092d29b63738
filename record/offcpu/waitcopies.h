/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waitcopies.h - copies of the stacks of threads that are off the CPU: runs the process pjrecord-wait (waithelper.h),
 * and keeps its copies until their verdict.
 *
 * Nothing here waits for that process. A read of a target's memory may hang: after 2 s the process is killed and
 * replaced, and processes of that tenant are not read for 10 s, after each further failure for longer (backoff.h). The
 * memory that both share is replaced, too, since a killed process that hangs in a page fault may still write to it.
 */
#ifndef PJ_WAITCOPIES_H
#define PJ_WAITCOPIES_H

#include "common/process/backoff.h"
#include "record/offcpu/waitframes.h"
#include "record/offcpu/waitshare.h"
#include "record/perf/sources.h"

enum { WAITCOPIES_MAX = 4096 }; /* most copies without a verdict */

struct waitcopies;

/* Starts the process, for samples of this attr in the rings of these sources, which outlive the result, as `frames`
 * does, into which it copies frames of interpreters; NULL: it copies none. Returns NULL if the processor is not
 * supported, or if the samples lack registers. */
struct waitcopies *waitcopies_fork(const struct perf_event_attr *attr, const struct rings *rings,
				   const struct sources *sources, struct waitframes *frames);
void waitcopies_free(struct waitcopies *waitcopies);

/* Passes the rings of context switches to the process. To be called again if CPUs come or go. */
void waitcopies_follow(struct waitcopies *waitcopies);

/* Makes the process read a thread that is off the CPU since before the recording. Returns false if the process does not
 * run, or takes no more for now; true also if the thread has ended or the kernel denies to read it. */
bool waitcopies_read(struct waitcopies *waitcopies, uint32_t pid, uint32_t tid);
/* Returns the registers of copies of such threads, sp and ip, as a mask of perf's numbers. */
uint64_t waitcopies_early_registers(const struct waitcopies *waitcopies);

/* A copy of the stack of a thread. Valid until waitcopies_release. */
struct waitcopies_copy {
	uint32_t tid;
	bool done;                   /* set by the caller: the copy is not needed any more */
	enum waitcopy_frames frames; /* of its interpreter */
	/* time of the sample of its switch-out, 0: it left the CPU before the recording; before and after the reads */
	uint64_t sampled, begun, ended;
	uint64_t at, end; /* positions in the ring */
};

/* Makes new copies known. */
void waitcopies_collect(struct waitcopies *waitcopies);
/* Returns the newest copy that is not done of a thread's stack, of the switch-out that was sampled at this time; NULL
 * if there is none. Copies of later switch-outs may be there already. A thread is read twice in one wait if its
 * interpreter became known meanwhile. */
struct waitcopies_copy *waitcopies_find(struct waitcopies *waitcopies, uint32_t tid, uint64_t sampled);
/* Returns the copy with number i, from 0, in the order in which they were made; NULL beyond the last one. */
struct waitcopies_copy *waitcopies_at(struct waitcopies *waitcopies, size_t i);
/* Sets *head to the head of a copy, and *stack to its bytes, which the process can still change. Returns false if it
 * has changed the head. */
bool waitcopies_bytes(const struct waitcopies *waitcopies, const struct waitcopies_copy *copy, struct waitcopy *head,
		      const char **stack);
/* Returns the address of the instruction that is next in user code. */
uint64_t waitcopies_ip(const struct waitcopies *waitcopies, const struct waitcopy *head);
/* Removes the oldest copies, up to the first one that is not done. */
void waitcopies_release(struct waitcopies *waitcopies);
/* Returns true if half of the space for copies is in use. */
bool waitcopies_press(const struct waitcopies *waitcopies);
/* Stores how many bytes above sp the root frame of a thread is (samplestack_used). */
void waitcopies_learn(struct waitcopies *waitcopies, uint32_t tid, uint64_t sp, size_t used);

/* Sets if only processes are read of which waitcopies_process has set the tenant. */
void waitcopies_limit(struct waitcopies *waitcopies, bool known_only);
/* Returns the class of a tenant: a hash, from 1 to WAITSHARE_CLASSES - 1. */
uint8_t waitcopies_class(const struct tenant *tenant);
/* Sets the tenant of a process, or that it has ended. */
void waitcopies_process(struct waitcopies *waitcopies, uint32_t pid, const struct tenant *tenant);
void waitcopies_exit(struct waitcopies *waitcopies, uint32_t pid);
/* Returns true if the tenant of the process is not known yet. */
bool waitcopies_is_new(const struct waitcopies *waitcopies, uint32_t pid);

/* Replaces the process if it hangs or has ended. owner returns the tenant of a pid. */
void waitcopies_tick(struct waitcopies *waitcopies, uint64_t now, struct tenant (*owner)(void *to, uint32_t pid),
		     void *to);

/* Returns the pid of the process, 0 if none runs. */
uint32_t waitcopies_pid(const struct waitcopies *waitcopies);
struct helper_counts waitcopies_helpers(const struct waitcopies *waitcopies);
/* Returns the counters of all processes since the start. */
struct waitcounters waitcopies_counters(const struct waitcopies *waitcopies);

#endif
