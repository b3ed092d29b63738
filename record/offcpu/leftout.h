/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leftout.h - set of the processes whose off-CPU times are not recorded: those of the recording itself.
 *
 * Each process of a recorder sleeps nearly all the time. On a host without the recorder these off-CPU times do not
 * exist, so they are left out. The caller adds the first processes. The children that they fork are in the set from
 * their FORK record on. A process counts as ended from the EXIT record of its first thread on, but its other threads
 * may go on. So it stays in the set until a FORK record gives its pid to another process, or until another process
 * needs its entry. Pure: no input or output.
 */
#ifndef PJ_LEFTOUT_H
#define PJ_LEFTOUT_H

#include "record/perf/rings.h"

/* LEFTOUT_MAX: maximum number of processes in the set; off-CPU times of further ones are recorded. LEFTOUT_RESERVED:
 * number of entries that only leftout_add uses, for a pjrecord-wait that replaces another one. */
enum { LEFTOUT_MAX = 64, LEFTOUT_RESERVED = 1 };

/* Set of processes. A zeroed object is valid and empty. */
struct leftout {
	uint32_t pid[LEFTOUT_MAX]; /* pids of the processes in the set; 0: a free entry */
	bool ended[LEFTOUT_MAX];   /* true: the first thread of the process has ended */
	uint32_t n;                /* number of processes in the set whose first thread has not ended */
	uint32_t nended;           /* number of processes in the set whose first thread has ended */
};

/* Adds a running process; replaces an ended process with the same pid. Does nothing if the set has the process, or if
 * it has LEFTOUT_MAX processes of which none has ended. */
void leftout_add(struct leftout *leftout, uint32_t pid);
/* Returns true if a process is in the set, so that its off-CPU times are not recorded. */
bool leftout_has(const struct leftout *leftout, uint32_t pid);
/* Removes all processes. After lost records, the caller then adds the processes that still run. */
void leftout_clear(struct leftout *leftout);
/* Applies a record of a state ring; ignores other records. Returns true if the record is of a process in the set, so
 * that the caller must drop it. That includes the EXIT record of such a process and the FORK record that adds a
 * process. */
bool leftout_record(struct leftout *leftout, const struct ring_record *record);

#endif
