/* SPDX-License-Identifier: Apache-2.0 */
/*
 * single.h - one recording in one file that appears when it is complete, or on standard output.
 *
 * While it is written it is called NAME.part, which pjfold and perf can read should the recorder be killed. Links,
 * FIFOs and files that another user may have planted are refused (outpath.h).
 */
#ifndef PJ_SINGLE_H
#define PJ_SINGLE_H

#include "common/files/outpath.h"

struct single {
	int fd;
	const char *path; /* NULL: standard output */
	char *part;       /* name in place.folder; NULL: written directly (a FIFO) */
	struct outpath place;
};

void single_open(struct single *single, const char *path); /* dies when it cannot; refuses a terminal */

/* error: errno of what was written, 0: all is well. Makes it durable and gives it its name; dies on an error. */
void single_close(struct single *single, int error);

void single_abandon(struct single *single); /* nothing of it is left */

#endif
