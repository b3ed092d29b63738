/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inputerrors.h - counts parts of input files that cannot be used (lines of perf maps, records of jitdumps, whole
 * files), and stores the position and reason of the first.
 */
#ifndef PJ_INPUTERRORS_H
#define PJ_INPUTERRORS_H

#include "common/base.h"

struct input_errors {
	/* Number of errors. */
	uint64_t n;
	/* Message for the first error, such as "FILE:LINE: REASON", cut at 255 bytes; empty if n is 0. */
	char first[256];
};

/* Adds n errors. If there was none before, stores the message that fmt makes, which describes the first of them. Does
 * nothing if n is 0. */
void inputerrors_note(struct input_errors *errors, uint64_t n, const char *fmt, ...) PRINTF(3, 4);

/* Adds the errors of *from, whose positions are later in the input than those of *errors. */
void inputerrors_add(struct input_errors *errors, const struct input_errors *from);

#endif
