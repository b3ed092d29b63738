/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offcpustats.h - describes in words how much off-CPU time has a complete stack: the same text for the summary of a
 * window and for its readers.
 */
#ifndef PJ_OFFCPUSTATS_H
#define PJ_OFFCPUSTATS_H

#include "common/formats/pjsection.h"
#include "common/text.h"

/* Adds the times by the origin of their stacks, whose values are from a file, to those of `sum`. Threads that lack in
 * several windows are mostly the same ones: `lacking` becomes the largest number. */
void offcpustats_add(struct pj_offcpu *sum, const struct pj_offcpu *more);

/* Appends the shares of the off-CPU time of user threads, such as "stacks of 3.200 s off the CPU: 93.1 % complete, read
 * while the thread was off the CPU, 0.2 % read but not complete, 6.7 % not read". With times of user threads only. */
void offcpustats_text(struct text *text, const struct pj_offcpu *offcpu);

#endif
