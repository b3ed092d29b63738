/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ownprocesses.h - finds the processes of this recording: pjrecord, its helper processes, the pjflame or pjprofile that
 * started it, and the pjmap beside it.
 *
 * Helper processes are children of pjrecord, or theirs, whose names begin with its own. The command that pjrecord
 * starts is none of them. The process of pjflame is known by its name only if pjrecord is to end with it
 * (--with-parent), and what pjflame starts by the name pjmap: a program that starts pjrecord to profile itself is
 * recorded.
 */
#ifndef PJ_OWNPROCESSES_H
#define PJ_OWNPROCESSES_H

#include "record/offcpu/leftout.h"
#include "record/offcpu/switches.h"

enum { OWNPROCESSES_MAX = LEFTOUT_MAX - LEFTOUT_RESERVED }; /* most processes; further ones are not left out */

/* Leaves those that run now out of off-CPU times, and no others, as far as /proc shows them: switches_leave_out. Those
 * that they start later follow by themselves. Called before the first record is taken, after the events were enabled so
 * that no FORK record is missing; and again after lost records, since a pid may be that of another process then.
 * parent: pid of the process with which pjrecord ends; command: of the command that it starts; 0: there is none. Does
 * nothing if switches is NULL. */
void ownprocesses_leave_out(struct switches *switches, uint32_t parent, uint32_t command);

/* For tests: the same of the processes in row[0..n). */
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
