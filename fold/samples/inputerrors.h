/* SPDX-License-Identifier: Apache-2.0 */
/* inputerrors.h - what of the files of others could not be used: how much of it, and where the first of it is. */
#ifndef PJ_INPUTERRORS_H
#define PJ_INPUTERRORS_H

#include "common/base.h"

struct input_errors {
	uint64_t n;
	char first[256]; /* "FILE:LINE: REASON" or the like, for people */
};

/* n more pieces, the first of them as the text says. */
void inputerrors_note(struct input_errors *errors, uint64_t n, const char *fmt, ...) PRINTF(3, 4);

/* Those of `from` come behind those of errors. */
void inputerrors_add(struct input_errors *errors, const struct input_errors *from);

#endif
