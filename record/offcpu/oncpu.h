/* SPDX-License-Identifier: Apache-2.0 */
/*
 * oncpu.h - on-CPU time of threads: context-switch records and samples in, the weight in ns of each sample out.
 *
 * A thread is on a CPU from the SWITCH record of its switch-in to the one of its switch-out. The weight of a sample is
 * the on-CPU time of its thread since the thread's previous sample, over any number of switches. So a thread's weights
 * add up to its on-CPU time. The time after the last sample of a window, or of a thread, is emitted without callchain.
 *
 * A thread whose first record shows it on a CPU has run there since oncpu_begin. In three cases the time until the
 * thread's next record is counted as unknown: after lost records; when another thread runs on the thread's CPU without
 * a record of the switch-out; and, after oncpu_newcomers, if a thread on a CPU has had neither record nor sample for
 * more than 1 s at a border or at its end. Pure: records in, times out. Memory holds all threads that ran, 48 bytes
 * each, until the table is rebuilt without those that ended.
 */
#ifndef PJ_ONCPU_H
#define PJ_ONCPU_H

#include "record/perf/rings.h"

/* Part of a thread's on-CPU time that is in no sample. time: timestamp in ns. ns: the on-CPU time in ns. */
struct oncpu_rest {
	uint32_t pid, tid, cpu;
	uint64_t time, ns;
	uint64_t cgroup; /* id of the thread's cgroup (oncpu_set_cgroup); 0 if unknown */
};

struct oncpu;

/* Returns the state of a recording, which the caller frees with oncpu_free. emit receives on-CPU time that is in no
 * sample; *rest is valid during the call; `to` is its first argument. */
struct oncpu *oncpu_new(void (*emit)(void *to, const struct oncpu_rest *rest), void *to);
void oncpu_free(struct oncpu *oncpu);

/* Starts the recording at time ns (CLOCK_MONOTONIC): on-CPU time before ns is not included. */
void oncpu_begin(struct oncpu *oncpu, uint64_t ns);
/* From now on, ignores the time of a thread before its first record. The caller calls it once threads may exist that
 * neither existed at oncpu_begin nor have a FORK record. */
void oncpu_newcomers(struct oncpu *oncpu);

/* Applies a record of the kernel. The caller passes records in order of time: SWITCH*, FORK, EXIT and COMM. Ignores
 * other records. */
void oncpu_record(struct oncpu *oncpu, const struct ring_record *record);

/* Returns the weight in ns of a sample of an event that samples CPU time: the on-CPU time of its thread that is in no
 * earlier sample. Returns 0 if there is no such time, or if the time is unknown. */
uint64_t oncpu_weight(struct oncpu *oncpu, const struct ring_sample *sample);
/* Returns the time in ns up to which the on-CPU time of a thread was added; 0 if the thread has had no record. */
uint64_t oncpu_counted(const struct oncpu *oncpu, uint32_t tid);
/* Sets the cgroup of a thread that has had records; ignores other threads. */
void oncpu_set_cgroup(struct oncpu *oncpu, uint32_t tid, uint64_t cgroup);

/* Ends the threads of a process that is no longer recorded. Their on-CPU time since their last sample is not
 * emitted. */
void oncpu_forget(struct oncpu *oncpu, uint32_t pid);

/* oncpu_mark_stale starts, and oncpu_sure ends, the handling of records near a loss: records later than time ns were
 * lost. oncpu_check ends the threads for which alive(to, tid) returns false: they have ended, but their EXIT records
 * were lost. */
void oncpu_mark_stale(struct oncpu *oncpu, uint64_t ns);
void oncpu_sure(struct oncpu *oncpu);
void oncpu_check(struct oncpu *oncpu, bool (*alive)(void *to, uint32_t tid), void *to);

/* Ends a window at time ns: emits the on-CPU time of each thread up to ns that is in no sample, with the timestamp ns -
 * 1. */
void oncpu_border(struct oncpu *oncpu, uint64_t ns);

/* Sets *times to the number, and *ns to the sum, of the on-CPU times since the previous call that are unknown because
 * records were lost. Resets both. */
void oncpu_take_unknown(struct oncpu *oncpu, uint64_t *times, uint64_t *ns);

#endif
