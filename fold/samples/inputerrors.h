/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inputerrors.h - counts errors in input files: unusable lines of perf maps, invalid records of jitdumps, unusable
 * files. Also stores position and reason of the first error.
 */
#ifndef PJ_INPUTERRORS_H
#define PJ_INPUTERRORS_H

#include "common/base.h"

struct input_errors {
	/* Number of errors. */
	uint64_t n;
	/* Message about the first error, such as "FILE:LINE: REASON", cut at 255 bytes; empty if n is 0. */
	char first[256];
};

/* Adds n errors. If *errors had none before, stores the message formatted by fmt, which describes the first of the n
 * errors. Does nothing if n is 0. */
void inputerrors_note(struct input_errors *errors, uint64_t n, const char *fmt, ...) PRINTF(3, 4);

/* Adds the errors of *from, whose positions in the input are after the positions of *errors. */
void inputerrors_add(struct input_errors *errors, const struct input_errors *from);

#endif
