/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ownprocesses.h - finds the processes of this recording, whose off-CPU times are not recorded: pjrecord, its helper
 * processes, the pjflame or pjprofile that started pjrecord, and the pjmap that pjflame or pjprofile started.
 *
 * pjrecord itself is one of these processes. Its parent is another one if pjrecord must end with the parent
 * (--with-parent) and the parent's name is pjflame or pjprofile. Descendants of both are helper processes if their
 * names begin with "pjrecord" or "pjmap"; the command that pjrecord starts is never one. So a program that starts
 * pjrecord to profile itself is recorded.
 */
#ifndef PJ_OWNPROCESSES_H
#define PJ_OWNPROCESSES_H

#include "record/offcpu/leftout.h"
#include "record/offcpu/switches.h"

/* maximum number of processes that are left out; the off-CPU times of further ones are recorded */
enum { OWNPROCESSES_MAX = LEFTOUT_MAX - LEFTOUT_RESERVED };

/* Leaves out of the off-CPU times (switches_leave_out) the processes of this recording that run now, as far as /proc
 * shows them, and no other process. Processes that they start later are left out without a further call. The caller
 * must call it after the events were enabled, so that no FORK record is missing, and before it takes the first record.
 * It must call it again after lost records, since a pid may be that of another process then. parent: pid of the process
 * with which pjrecord ends. command: pid of the command that it starts. 0: no such process. Does nothing if switches is
 * NULL. */
void ownprocesses_leave_out(struct switches *switches, uint32_t parent, uint32_t command);

/* Calls add for the pid of each process in row[0..n) that belongs to this recording. In the header for tests. */
struct ownprocesses_row {
	uint32_t pid, ppid;
	char comm[16];
};
struct ownprocesses_pids {
	uint32_t self, parent, command;
};
void ownprocesses_of(const struct ownprocesses_row *row, size_t n, const struct ownprocesses_pids *pids,
		     void (*add)(void *to, uint32_t pid), void *to);

#endif
