/* SPDX-License-Identifier: Apache-2.0 */
/*
 * oncpu.h - on-CPU time of threads: context-switch records and samples in, the weight in ns of each sample out.
 *
 * A thread is on a CPU from the SWITCH record of its switch-in to that of its switch-out. The weight of a sample is the
 * on-CPU time of its thread since the thread's previous sample, over any number of switches, so a thread's weights add
 * up to its on-CPU time. The time after the last sample of a window, or of a thread, is emitted without callchain.
 *
 * A thread whose first record shows it on a CPU ran there since oncpu_begin. After lost records the time of a thread
 * that was on a CPU counts as unknown until its next record. So does the time of a thread on whose CPU another one
 * runs, without a record of the switch-out. With oncpu_newcomers, so does that of a thread on a CPU that has had no
 * record and no sample for more than 1 s at a border or at its end. Pure: records in, times out. Memory holds the
 * threads that ever ran, 48 bytes each, until the table is rebuilt without those that ended.
 */
#ifndef PJ_ONCPU_H
#define PJ_ONCPU_H

#include "record/perf/rings.h"

/* On-CPU time of a thread that no sample has. */
struct oncpu_rest {
	uint32_t pid, tid, cpu;
	uint64_t time, ns;
	uint64_t cgroup; /* that of oncpu_set_cgroup; 0 if unknown */
};

struct oncpu;

/* Returns the state of a recording. emit receives on-CPU time that no sample has; it is valid during the call. */
struct oncpu *oncpu_new(void (*emit)(void *to, const struct oncpu_rest *rest), void *to);
void oncpu_free(struct oncpu *oncpu);

/* Starts the recording at ns: on-CPU time before ns does not count. */
void oncpu_begin(struct oncpu *oncpu, uint64_t ns);
/* As offcpu_newcomers: the time of a thread before its first record does not count from then on. */
void oncpu_newcomers(struct oncpu *oncpu);

/* Takes a record of the kernel, in order of time: SWITCH*, FORK, EXIT and COMM. Ignores other records. */
void oncpu_record(struct oncpu *oncpu, const struct ring_record *record);

/* Returns the weight in ns of a sample of an event that samples CPU time: on-CPU time of its thread that no sample has
 * yet. It is 0 if there is none, or if it is unknown. */
uint64_t oncpu_weight(struct oncpu *oncpu, const struct ring_sample *sample);
/* Returns the time up to which the time of a thread is counted; 0 if it has had no record. */
uint64_t oncpu_counted(const struct oncpu *oncpu, uint32_t tid);
/* Sets the cgroup of a thread that has had records. */
void oncpu_set_cgroup(struct oncpu *oncpu, uint32_t tid, uint64_t cgroup);

/* Ends the threads of a process that is not recorded any more. Its time since its last sample is not emitted. */
void oncpu_forget(struct oncpu *oncpu, uint32_t pid);

/* As offcpu_mark_stale, offcpu_sure and offcpu_check. */
void oncpu_mark_stale(struct oncpu *oncpu, uint64_t ns);
void oncpu_sure(struct oncpu *oncpu);
void oncpu_check(struct oncpu *oncpu, bool (*alive)(void *to, uint32_t tid), void *to);

/* Ends a window: emits the on-CPU time up to ns of each thread that no sample has, with the timestamp ns - 1. */
void oncpu_border(struct oncpu *oncpu, uint64_t ns);

/* Sets *times and *ns to the number and sum of on-CPU times that are unknown because records were lost, since the
 * previous call. */
void oncpu_take_unknown(struct oncpu *oncpu, uint64_t *times, uint64_t *ns);

#endif
