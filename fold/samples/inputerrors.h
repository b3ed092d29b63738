/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inputerrors.h - counts parts of input files that cannot be used (lines of perf maps, records of jitdumps, whole
 * files), and keeps the place of the first.
 */
#ifndef PJ_INPUTERRORS_H
#define PJ_INPUTERRORS_H

#include "common/base.h"

struct input_errors {
	uint64_t n;
	/* "FILE:LINE: REASON" of the first; empty if n is 0. Cut at 255 bytes. */
	char first[256];
};

/* Adds n errors; the text describes the first of them, and is used if there was none before. n = 0 does nothing. */
void inputerrors_note(struct input_errors *errors, uint64_t n, const char *fmt, ...) PRINTF(3, 4);

/* Adds the errors of `from`, which come later in the input. */
void inputerrors_add(struct input_errors *errors, const struct input_errors *from);

#endif
