/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offcpustats.h - describes in words how much off-CPU time has complete stacks. The recorder, in its summary, and
 * readers of windows print the same text.
 */
#ifndef PJ_OFFCPUSTATS_H
#define PJ_OFFCPUSTATS_H

#include "common/formats/pjsection.h"
#include "common/text.h"

/* Adds the members read, complete, unread and early of `more`, with their times, to *sum. Sums stop at UINT64_MAX,
 * because the values come from a file. sum->lacking becomes the larger value of both, because several windows count
 * mostly the same threads. */
void offcpustats_add(struct pj_offcpu *sum, const struct pj_offcpu *more);

/* Appends the shares of the off-CPU time of user threads, such as "stacks of 3.200 s off the CPU: 93.1 % complete, read
 * while the thread was off the CPU, 0.2 % read but not complete, 6.7 % not read". Must not be called if the off-CPU
 * time is 0. */
void offcpustats_text(struct text *text, const struct pj_offcpu *offcpu);

/* Off-CPU time of user threads in ns. complete: part of `all` with complete stacks; unread: part of `all` whose stacks
 * were not read. */
struct offcpu_share {
	uint64_t all, complete, unread;
};

/* Returns the off-CPU time of the event offcpu-time, which pjfold folds by default: without the times of threads that
 * were preempted. With --wall, returns all off-CPU time. */
struct offcpu_share offcpustats_blocked(const struct pj_offcpu *offcpu);

#endif
