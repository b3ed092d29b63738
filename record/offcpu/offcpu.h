/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offcpu.h - off-CPU time of threads: context-switch records in, samples with callchains out.
 *
 * When a thread leaves a CPU the kernel writes a sample of the event context-switches, with the callchain, then a
 * SWITCH record with the flag "out", which shows whether the thread could have gone on (preempted) or not (blocked).
 * When the thread returns, the kernel writes a SWITCH record without that flag. The time between the two is one
 * sample with that callchain; its time is that of the return, its period the ns. At a border, of a window or of the
 * end, each thread off the CPU gets the part up to there.
 *
 * Nothing is invented. A thread that was off already when the recording began has no callchain: it is only counted,
 * unless its stack is read meanwhile (offcpu_set_early).
 * After lost records the state of a thread is unknown: its time counts up to the last certain time, and the rest
 * counts as unknown until its next record. Pure: bytes in, samples out. Memory holds the threads that ever ran (80
 * bytes each) and the callchains of chains.h.
 *
 * A copy of the stack of a thread that was off the CPU is certified by the same records: the thread left the CPU with
 * the sample that the copy belongs to, before the first read; it was not on a CPU before the end of the last read; and
 * no record was lost in between. A thread that does not run cannot exit or call exec, and its tid stays its own, so the
 * bytes are those of that thread at its switch-out, but for what other threads wrote there. The registers of a
 * switch-out within exec may be those of the old program, and the memory that of the new one.
 */
#ifndef PJ_OFFCPU_H
#define PJ_OFFCPU_H

#include "common/formats/pjsection.h"
#include "record/perf/rings.h"
#include "common/text.h"

/* One off-CPU time of a thread, or a part of it. */
struct offcpu_sample {
	uint32_t pid, tid, cpu; /* cpu: number of the CPU that the thread left */
	bool preempted;
	bool unsampled; /* on-CPU time that no sample has (oncpu.h), not off-CPU time */
	/* read: the user part of the callchain is that of a certified copy (offcpu_set_stack); complete: it ends in a
	 * root frame; early: the thread is off the CPU since before the recording (offcpu_set_early) */
	bool read, complete, early;
	uint64_t time, ns, cgroup;
	const uint64_t *ips; /* n addresses of the callchain from the kernel; valid during the call */
	uint32_t n;
};

struct offcpu;

/* Returns the state of a recording. emit receives each sample, which is valid during the call. Off-CPU times shorter
 * than least_ns are counted and not emitted; parts that end at a border are always emitted. */
struct offcpu *offcpu_new(uint64_t least_ns, void (*emit)(void *to, const struct offcpu_sample *sample), void *to);
void offcpu_free(struct offcpu *offcpu);
/* Emits off-CPU times without callchain, too: those before the first record of a thread that is off the CPU since
 * before the recording (blocked), or that was started during it (preempted). */
void offcpu_emit_all(struct offcpu *offcpu);
/* Call it once threads may have records that neither existed at offcpu_begin nor have a FORK record: the time before
 * the first record of a thread is unknown then, and only counted. */
void offcpu_newcomers(struct offcpu *offcpu);

/* Starts the recording at ns: off-CPU time before ns does not count. */
void offcpu_begin(struct offcpu *offcpu, uint64_t ns);

/* Takes a record of the kernel. Records must come in order of time: samples of context-switches (with `cgroup`, the
 * sample ends with a cgroup id), SWITCH*, FORK, EXIT and COMM, with their trailers. Ignores other records. */
void offcpu_record(struct offcpu *offcpu, const struct ring_record *record, bool cgroup);

/* Call offcpu_mark_stale if records later than ns were lost, before the next records are taken, and offcpu_sure after
 * that. Off-CPU times that the records in between begin or end are uncertain, because a record near them may be
 * missing. */
void offcpu_mark_stale(struct offcpu *offcpu, uint64_t ns);
void offcpu_sure(struct offcpu *offcpu);

/* Returns the time of the latest record of a thread; 0 if it has had none. */
uint64_t offcpu_latest(const struct offcpu *offcpu, uint32_t tid);
/* Ends the threads of a process that is not recorded any more. */
void offcpu_forget(struct offcpu *offcpu, uint32_t pid);

/* Time in ns by which a switch-in must be later than the end of a read: the kernel's clock for records
 * (ktime_get_mono_fast_ns) may differ from that of clock_gettime for a moment while the kernel adjusts it. */
#define OFFCPU_MARGIN_NS UINT64_C(1000)

enum offcpu_verdict {
	OFFCPU_CERTIFIED,
	OFFCPU_RESUMED,  /* the thread was on a CPU before the last read ended */
	OFFCPU_UNCERTAIN /* records were lost */
};

/* A copy of a stack: `sampled` is the time of the sample of the switch-out; begun and ended are before the first and
 * after the last read. */
struct offcpu_copy {
	uint32_t tid;
	uint64_t sampled, begun, ended;
};

/* Returns the verdict on a copy. All records before `until` were taken, and none after it: it is the time of the record
 * that offcpu_record takes next, or up to which the rings are drained. */
enum offcpu_verdict offcpu_verdict(const struct offcpu *offcpu, const struct offcpu_copy *copy, uint64_t until);
/* Sets *sample to the wait of a thread that is off the CPU; ns and cgroup are 0. The callchain is valid until the next
 * call of another function; it is that of offcpu_set_stack if sample->read. Returns false if the thread is not off the
 * CPU, or has no callchain. */
bool offcpu_wait(const struct offcpu *offcpu, uint32_t tid, struct offcpu_sample *sample);

/* The callchain of a certified copy. */
struct offcpu_stack {
	const uint64_t *ips;
	uint32_t n;
	bool complete;  /* it ends in a root frame */
	uint32_t owner; /* hash of the tenant, 1 to CHAINS_OWNERS - 1 */
};

/* Replaces the callchain of a thread that is off the CPU by that of a certified copy, but not a complete one of an
 * earlier copy by one that is not. Returns false if the space for those of its owner, or of all, is used: the thread
 * keeps the kernel's. */
bool offcpu_set_stack(struct offcpu *offcpu, uint32_t tid, const struct offcpu_stack *stack);

/* As offcpu_verdict, for a copy of the stack of a thread that has had no record since offcpu_begin, so that it left the
 * CPU before; copy->sampled is 0. That the thread was off the CPU at one moment between begun and ended is known from
 * elsewhere (/proc/PID/task/TID/syscall): a thread that runs has no records either. Any loss since offcpu_begin makes
 * the result uncertain. */
enum offcpu_verdict offcpu_early_verdict(const struct offcpu *offcpu, const struct offcpu_copy *copy, uint64_t until);
/* Adds such a thread, as off the CPU since offcpu_begin, with the callchain of the copy, or replaces its callchain,
 * as offcpu_set_stack, and returns false as that. */
bool offcpu_set_early(struct offcpu *offcpu, uint32_t pid, uint32_t tid, const struct offcpu_stack *stack);

#define OFFCPU_RETURNED_NS UINT64_C(100000000)

/* State of a thread that existed at offcpu_begin. */
enum offcpu_early {
	OFFCPU_EARLY_SILENT,   /* it has had no record: it is off the CPU since then, or has run all the time */
	OFFCPU_EARLY_READ,     /* the same, and it has a stack (offcpu_set_early) that ends in no root frame */
	OFFCPU_EARLY_COMPLETE, /* the same with a complete stack */
	/* its first record was its return to a CPU, OFFCPU_RETURNED_NS or more after offcpu_begin, and no sample has
	 * that time */
	OFFCPU_EARLY_RETURNED,
	/* it had a stack, but records were lost, so since the end of a window it is unknown if it still waits */
	OFFCPU_EARLY_LOST,
	OFFCPU_EARLY_NONE /* anything else */
};
enum offcpu_early offcpu_early(const struct offcpu *offcpu, uint32_t tid);
/* Returns true if records were lost since the start: offcpu_early_verdict certifies no copy any more. */
bool offcpu_has_lost(const struct offcpu *offcpu);

/* Counts a sample that was emitted with the stack of a certified copy as one whose stack was not read. */
void offcpu_drop_stack(struct offcpu *offcpu, const struct offcpu_sample *sample);

/* Ends a window: emits the off-CPU time of each thread up to ns, as samples with the timestamp ns - 1. After lost
 * records, counts the time that is not certain as unknown instead; the certain part is emitted with the timestamp
 * ns - 2, so that ns - 1 shows that the thread was off the CPU at the border. */
void offcpu_border(struct offcpu *offcpu, uint64_t ns);

/* Ends the threads for which alive returns false, because their EXIT records were lost. */
void offcpu_check(struct offcpu *offcpu, bool (*alive)(void *to, uint32_t tid), void *to);

/* offcpu_counts returns the counts since the last offcpu_count_from_here, which sets them to 0. */
struct pj_offcpu offcpu_counts(const struct offcpu *offcpu);
void offcpu_count_from_here(struct offcpu *offcpu);

/* Adds the counts of the window `more` to those of earlier windows in `sum`. sum->never and
 * sum->own become those of `more`. */
void offcpu_add(struct pj_offcpu *sum, const struct pj_offcpu *more);

/* offcpu_threads returns the number of threads that have had records and have not ended. offcpu_bytes returns the bytes
 * of memory that the state takes. */
size_t offcpu_threads(const struct offcpu *offcpu);
size_t offcpu_bytes(const struct offcpu *offcpu);

/* Appends the counts in words, such as "12 times blocked (3.200 s), 3 preempted (0.001 s)", and those of off-CPU times
 * that samples lack. */
void offcpu_text(struct text *text, const struct pj_offcpu *offcpu);

#endif
