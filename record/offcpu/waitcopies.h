/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waitcopies.h - copies of the stacks of threads that are off the CPU: runs the helper process pjrecord-wait
 * (waithelper.h) and stores the positions of its copies until the caller has a verdict on each.
 *
 * No function waits for pjrecord-wait. A read of a target's memory may hang. After 2 s pjrecord kills and replaces
 * pjrecord-wait, and does not read processes of the target's tenant for 10 s; after each further failure for longer
 * (backoff.h). The shared memory is replaced, too, since a killed process that hangs in a page fault may still write to
 * it.
 */
#ifndef PJ_WAITCOPIES_H
#define PJ_WAITCOPIES_H

#include "common/process/backoff.h"
#include "record/offcpu/waitframes.h"
#include "record/offcpu/waitshare.h"
#include "record/perf/sources.h"

enum { WAITCOPIES_MAX = 4096 }; /* maximum number of copies without a verdict; further ones stay in the ring */

struct waitcopies;

/* Starts pjrecord-wait. attr: attributes of the event that reports context switches; rings, sources: rings with its
 * records, and their CPUs. rings, sources and frames must outlive the result. pjrecord-wait copies frames of
 * interpreters into `frames`; NULL: it copies none. Returns NULL if the processor is not supported, or if the samples
 * lack registers. The caller frees the result with waitcopies_free. */
struct waitcopies *waitcopies_fork(const struct perf_event_attr *attr, const struct rings *rings,
				   const struct sources *sources, struct waitframes *frames);
void waitcopies_free(struct waitcopies *waitcopies);

/* Sends the rings of context switches to pjrecord-wait. The caller calls it again if CPUs come or go. */
void waitcopies_follow(struct waitcopies *waitcopies);

/* Requests that pjrecord-wait reads a thread that has been off the CPU since before the recording. Returns false if
 * pjrecord-wait does not run or accepts no more requests for now; then try again later. Returns true without a request
 * if the thread has ended or the kernel denies access to it. */
bool waitcopies_read(struct waitcopies *waitcopies, uint32_t pid, uint32_t tid);
/* Returns the registers in the copies that waitcopies_read requests, sp and ip, as a mask of perf's register
 * numbers. */
uint64_t waitcopies_early_registers(const struct waitcopies *waitcopies);

/* One copy of the stack of a thread; valid until waitcopies_release. */
struct waitcopies_copy {
	uint32_t tid;
	bool done;                   /* true: the copy is no longer needed; set by the caller */
	enum waitcopy_frames frames; /* result of the copy of the thread's interpreted frames */
	/* sampled: time of the sample of the switch-out; 0: the thread left the CPU before the recording. begun, ended:
	 * times before and after the reads. All in ns (CLOCK_MONOTONIC). */
	uint64_t sampled, begun, ended;
	/* positions of the start and the end of the copy in the ring, in bytes since the ring's start */
	uint64_t at, end;
};

/* Finds the copies that pjrecord-wait has published since the last call. If the ring is malformed, ends pjrecord-wait;
 * waitcopies_tick then starts another one. */
void waitcopies_collect(struct waitcopies *waitcopies);
/* Returns the newest copy, among those with `done` false, of a thread's stack for the switch-out that was sampled at
 * time `sampled` (ns); NULL if there is none. Copies of later switch-outs may exist already. Two copies exist for one
 * switch-out if pjrecord added the thread to the table of waitframes.h after the first read. */
struct waitcopies_copy *waitcopies_find(struct waitcopies *waitcopies, uint32_t tid, uint64_t sampled);
/* Returns the copy with index i, counted from 0 in the order in which the copies were made; NULL beyond the last
 * one. */
struct waitcopies_copy *waitcopies_at(struct waitcopies *waitcopies, size_t i);
/* Sets *head to the head of a copy and *stack to its bytes in the shared memory, which pjrecord-wait can still change.
 * Returns false if pjrecord-wait has changed the head. */
bool waitcopies_bytes(const struct waitcopies *waitcopies, const struct waitcopies_copy *copy, struct waitcopy *head,
		      const char **stack);
/* Returns the instruction pointer of the thread, a virtual address of user code, from the head of a copy. */
uint64_t waitcopies_ip(const struct waitcopies *waitcopies, const struct waitcopy *head);
/* Removes the oldest copies, up to the first one that is not done, and releases their space in the ring. */
void waitcopies_release(struct waitcopies *waitcopies);
/* Returns true if more than half of the space for copies is in use, so that the caller must decide on copies soon. */
bool waitcopies_press(const struct waitcopies *waitcopies);
/* Stores that the root frame of a thread is `used` bytes above sp (samplestack_used), so that the next copy of its
 * stack ends there. */
void waitcopies_learn(struct waitcopies *waitcopies, uint32_t tid, uint64_t sp, size_t used);

/* Sets which processes pjrecord-wait reads. known_only true: only those whose tenant was set by waitcopies_process;
 * false: all. */
void waitcopies_limit(struct waitcopies *waitcopies, bool known_only);
/* Returns the class of a tenant: a hash of it, from 1 to WAITSHARE_CLASSES - 1. */
uint8_t waitcopies_class(const struct tenant *tenant);
/* waitcopies_process sets the tenant of a process; it does nothing if the tenant is unknown. waitcopies_exit removes a
 * process that has ended. */
void waitcopies_process(struct waitcopies *waitcopies, uint32_t pid, const struct tenant *tenant);
void waitcopies_exit(struct waitcopies *waitcopies, uint32_t pid);
/* Returns true if the tenant of the process has not been set by waitcopies_process. */
bool waitcopies_is_new(const struct waitcopies *waitcopies, uint32_t pid);

/* Replaces pjrecord-wait if it hangs or has ended. owner returns the tenant of a pid; `to` is its first argument. now:
 * current time in ns. */
void waitcopies_tick(struct waitcopies *waitcopies, uint64_t now, struct tenant (*owner)(void *to, uint32_t pid),
		     void *to);

/* Returns the pid of pjrecord-wait; 0 if it does not run. */
uint32_t waitcopies_pid(const struct waitcopies *waitcopies);
struct helper_counts waitcopies_helpers(const struct waitcopies *waitcopies);
/* Returns the sum of the counters of all pjrecord-wait processes since the start of the recording, including replaced
 * ones. */
struct waitcounters waitcopies_counters(const struct waitcopies *waitcopies);

#endif
