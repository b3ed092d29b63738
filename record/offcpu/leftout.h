/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leftout.h - the processes that are left out of off-CPU times: those of the recording itself.
 *
 * A recorder sleeps nearly all the time, in every process that it has, and a host without it has none of these sleeps.
 * The set begins with processes that the caller adds; the children that they fork are in it from their FORK record on.
 * A process is in it until its last EXIT record, or until a FORK record gives its pid to another process. Pure.
 */
#ifndef PJ_LEFTOUT_H
#define PJ_LEFTOUT_H

#include "record/perf/rings.h"

/* Most processes: further ones are not left out. The reserved places are for processes that the caller adds: for a
 * pjrecord-wait that replaces another one. */
enum { LEFTOUT_MAX = 64, LEFTOUT_RESERVED = 1 };

/* The zero value is empty. */
struct leftout {
	uint32_t pid[LEFTOUT_MAX]; /* 0: a free place */
	uint32_t n;                /* number of processes */
};

/* Adds a process. */
void leftout_add(struct leftout *leftout, uint32_t pid);
/* Returns true if a process is in the set. */
bool leftout_has(const struct leftout *leftout, uint32_t pid);
/* Removes all processes: after lost records, the caller adds those that are left. */
void leftout_clear(struct leftout *leftout);
/* Applies a record of a state ring. Others are ignored. Returns true if it is of a process that is in the set: an EXIT
 * record, of one that was; a FORK record, of a new process that is. */
bool leftout_record(struct leftout *leftout, const struct ring_record *record);

#endif
