/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offcpu.h - off-CPU time of threads: context-switch records in, samples with callchains out.
 *
 * When a thread leaves a CPU, the kernel writes a sample of the event context-switches with the callchain, then a
 * SWITCH record with the flag "out". The record shows whether the thread was still runnable (preempted) or not
 * (blocked). When the thread returns, the kernel writes a SWITCH record without that flag. The time between the two
 * records becomes one sample with that callchain: its timestamp is the time of the return, its period the number of ns.
 * At the end of a window or of the recording (a border), each thread that is off the CPU gets a sample of its time up
 * to the border.
 *
 * A thread that was off the CPU when the recording began has no callchain. Its time is only counted, unless its stack
 * is read in the meantime (offcpu_set_early). After lost records the state of a thread is unknown: its off-CPU time
 * ends at the last certain time, and the rest until its next record is counted as unknown. Pure: bytes in, samples out.
 * Memory holds all threads that ran (80 bytes each) and the callchains of chains.h.
 *
 * The same records certify a copy of the stack of a thread that was off the CPU. They show that the thread left the CPU
 * with the sample to which the copy belongs, before the first read; that it was not on a CPU before the end of the last
 * read; and that no record was lost in between. A thread that does not run cannot exit or call exec, and its tid is not
 * reused. So the copied bytes are those of that thread at its switch-out, except where other threads wrote. After a
 * switch-out within exec, the registers may be those of the old program and the memory that of the new one.
 */
#ifndef PJ_OFFCPU_H
#define PJ_OFFCPU_H

#include "common/formats/pjsection.h"
#include "record/perf/rings.h"
#include "common/text.h"

/* One off-CPU time of a thread, or a part of it, as a sample. */
struct offcpu_sample {
	uint32_t pid, tid, cpu; /* cpu: CPU that the thread left; UINT32_MAX: unknown */
	bool preempted;
	/* true: this is on-CPU time that is in no sample of the CPU event (oncpu.h), not off-CPU time */
	bool unsampled;
	/* read: the user part of the callchain is from a certified copy of the stack (offcpu_set_stack). complete: the
	 * callchain ends in a root frame. early: the thread has been off the CPU since before the recording
	 * (offcpu_set_early). */
	bool read, complete, early;
	/* time: timestamp in ns (CLOCK_MONOTONIC). ns: duration of the off-CPU time in ns. cgroup: id of the thread's
	 * cgroup, 0 if it is unknown. */
	uint64_t time, ns, cgroup;
	const uint64_t *ips; /* n addresses of the callchain, with context markers; valid during the call */
	uint32_t n;
};

struct offcpu;

/* Returns the state of a recording, which the caller frees with offcpu_free. emit receives each sample, which is valid
 * during the call; `to` is its first argument. Off-CPU times shorter than least_ns are counted and not emitted; parts
 * of a time that end at a border are always emitted. */
struct offcpu *offcpu_new(uint64_t least_ns, void (*emit)(void *to, const struct offcpu_sample *sample), void *to);
void offcpu_free(struct offcpu *offcpu);
/* Makes the state emit off-CPU times without callchain, too: those of threads that were off the CPU when the recording
 * began (blocked), and of new threads before they first run (preempted). Without this call, such times are only
 * counted. */
void offcpu_emit_all(struct offcpu *offcpu);
/* From now on, a thread's off-CPU time before its first record is only counted and not emitted. The caller calls it
 * once threads may exist that neither existed at offcpu_begin nor have a FORK record. */
void offcpu_newcomers(struct offcpu *offcpu);

/* Starts the recording at time ns (CLOCK_MONOTONIC): off-CPU time before ns is neither emitted nor counted. */
void offcpu_begin(struct offcpu *offcpu, uint64_t ns);

/* Applies a record of the kernel. The caller passes records in order of time: samples of context-switches, SWITCH*,
 * FORK, EXIT and COMM, with their trailers. Ignores other records. cgroup: true: samples end with a cgroup id. */
void offcpu_record(struct offcpu *offcpu, const struct ring_record *record, bool cgroup);

/* offcpu_mark_stale starts, and offcpu_sure ends, the handling of records near a loss. If records later than time ns
 * were lost, the caller calls offcpu_mark_stale before it applies further records, and offcpu_sure after the records
 * that were in the rings. Off-CPU times that these records begin or end are uncertain, because a record near them may
 * be missing. They are counted as unknown. */
void offcpu_mark_stale(struct offcpu *offcpu, uint64_t ns);
void offcpu_sure(struct offcpu *offcpu);

/* Returns the time of the latest record of a thread in ns; 0 if it has had no record. */
uint64_t offcpu_latest(const struct offcpu *offcpu, uint32_t tid);
/* Ends the threads of a process that is no longer recorded, without emitting their times. */
void offcpu_forget(struct offcpu *offcpu, uint32_t pid);

/* Minimum time in ns between the end of a read and the next record that was applied or may come; otherwise a copy is
 * not certified. The kernel's clock for records (ktime_get_mono_fast_ns) may differ from clock_gettime for a moment
 * while the kernel adjusts it. */
#define OFFCPU_MARGIN_NS UINT64_C(1000)

enum offcpu_verdict {
	OFFCPU_CERTIFIED,
	OFFCPU_RESUMED,  /* the thread was, or may have been, on a CPU before the last read ended */
	OFFCPU_UNCERTAIN /* records were lost, so it is unknown if the thread was on a CPU */
};

/* Times of a copy of a stack, in ns. sampled: time of the sample of the switch-out. begun, ended: times before the
 * first read and after the last read. */
struct offcpu_copy {
	uint32_t tid;
	uint64_t sampled, begun, ended;
};

/* Returns the verdict on a copy of a thread's stack. The caller has applied all records before time `until` (ns) and
 * none after it: `until` is the time of the next record, or the time up to which the rings are drained. */
enum offcpu_verdict offcpu_verdict(const struct offcpu *offcpu, const struct offcpu_copy *copy, uint64_t until);
/* Sets *sample to the current off-CPU time of a thread, with 0 or false in its members ns, cgroup, complete and early.
 * The callchain is from offcpu_set_stack if sample->read, else from the kernel; it is valid until the next call of a
 * function that changes the state. Its timestamp is the time of the sample of the switch-out. Returns false, without
 * setting *sample, if the thread is not off the CPU or has no callchain. */
bool offcpu_wait(const struct offcpu *offcpu, uint32_t tid, struct offcpu_sample *sample);

/* Callchain of a certified copy of a stack. */
struct offcpu_stack {
	const uint64_t *ips;
	uint32_t n;
	bool complete; /* true: the callchain ends in a root frame */
	/* hash of the tenant, from 1 to CHAINS_OWNERS - 1, to which the callchain's bytes are charged */
	uint32_t owner;
};

/* Replaces the callchain of a thread that is off the CPU by the callchain of a certified copy. Exception: a complete
 * callchain of an earlier copy is not replaced by an incomplete one; then returns true, too. Returns false, without
 * change, if the thread is not off the CPU, or if the space for callchains of this owner, or of all owners, is used
 * up. */
bool offcpu_set_stack(struct offcpu *offcpu, uint32_t tid, const struct offcpu_stack *stack);

/* Returns the verdict on a copy of the stack of a thread that has had no record since offcpu_begin; copy->sampled is 0.
 * Such a thread left the CPU before, or runs all the time. So the caller must have read in /proc/PID/task/TID/syscall
 * that the thread slept at one moment between copy->begun and copy->ended. The result is OFFCPU_UNCERTAIN after any
 * loss since offcpu_begin, and for a copy that is more than 2 s old. until: the caller has applied all records before
 * this time (ns) and none after it. */
enum offcpu_verdict offcpu_early_verdict(const struct offcpu *offcpu, const struct offcpu_copy *copy, uint64_t until);
/* Adds a thread that has been off the CPU since offcpu_begin, with the callchain of a certified copy, or replaces its
 * callchain. Exception: a complete callchain is not replaced by an incomplete one; then returns true, too. Returns
 * false, without change, if the space for callchains is used up. */
bool offcpu_set_early(struct offcpu *offcpu, uint32_t pid, uint32_t tid, const struct offcpu_stack *stack);

/* minimum time in ns from offcpu_begin to the return of a thread to a CPU; a thread that returns earlier does not get
 * the state OFFCPU_EARLY_RETURNED */
#define OFFCPU_RETURNED_NS UINT64_C(100000000)

/* State of a thread that existed at offcpu_begin, for the table of earlywaits.h. */
enum offcpu_early {
	/* the thread has had no record: since offcpu_begin it has been off the CPU, or has run all the time */
	OFFCPU_EARLY_SILENT,
	OFFCPU_EARLY_READ,     /* no record yet; the thread has a stack (offcpu_set_early) that ends in no root frame */
	OFFCPU_EARLY_COMPLETE, /* no record yet; the thread has a complete stack (offcpu_set_early) */
	/* The first record of the thread was its return to a CPU, OFFCPU_RETURNED_NS or more after offcpu_begin. Its
	 * time off the CPU before that is in no sample. */
	OFFCPU_EARLY_RETURNED,
	/* The thread had a stack (offcpu_set_early), but records were lost. So since the end of a window it is unknown
	 * if the thread is still off the CPU. */
	OFFCPU_EARLY_LOST,
	/* the thread has had records, and none of the other states fits: its off-CPU time is handled without
	 * earlywaits.h */
	OFFCPU_EARLY_NONE
};
enum offcpu_early offcpu_early(const struct offcpu *offcpu, uint32_t tid);
/* Returns true if records were lost since the start; then offcpu_early_verdict certifies no more copies. */
bool offcpu_has_lost(const struct offcpu *offcpu);

/* Corrects the counts for a sample that was emitted with the callchain of a certified copy, but is written without it:
 * counts it as a sample whose stack was not read. */
void offcpu_drop_stack(struct offcpu *offcpu, const struct offcpu_sample *sample);

/* Ends a window at time ns: emits the off-CPU time of each thread up to ns, as samples with the timestamp ns - 1. For
 * threads with lost records, emits only the certain part, with the timestamp ns - 2, and counts the rest as unknown. So
 * the timestamp ns - 1 shows that the thread was off the CPU at the border. */
void offcpu_border(struct offcpu *offcpu, uint64_t ns);

/* Ends the threads for which alive(to, tid) returns false: they have ended, but their EXIT records were lost. */
void offcpu_check(struct offcpu *offcpu, bool (*alive)(void *to, uint32_t tid), void *to);

/* offcpu_counts returns the counts since the last offcpu_count_from_here, which sets them to 0. */
struct pj_offcpu offcpu_counts(const struct offcpu *offcpu);
void offcpu_count_from_here(struct offcpu *offcpu);

/* Adds the counts of a window, *more, to *sum, the counts of earlier windows. Exceptions: `never` and `own` are copied
 * from *more, and `lacking` becomes the maximum of both. */
void offcpu_add(struct pj_offcpu *sum, const struct pj_offcpu *more);

/* offcpu_threads returns the number of threads that have had records or a stack (offcpu_set_early), and have not ended.
 * offcpu_bytes returns the number of bytes of memory of the state. */
size_t offcpu_threads(const struct offcpu *offcpu);
size_t offcpu_bytes(const struct offcpu *offcpu);

/* Appends the counts in words, such as "12 times blocked (3.200 s), 3 preempted (0.001 s)", and the counts of off-CPU
 * times that are in no sample. */
void offcpu_text(struct text *text, const struct pj_offcpu *offcpu);

#endif
