/* SPDX-License-Identifier: Apache-2.0 */
/* child.h - a program is run, what it prints is taken, and it never stays longer than it may. Safe while there are threads. */
#ifndef PJ_CHILD_H
#define PJ_CHILD_H

#include "text.h"

struct child {
	struct text out, err; /* what it printed; err: the first 64 kB */
	int status;           /* of exit, or -1 */
	int signal;           /* that ended it, or 0 */
	int error;            /* errno: it could not be started, or what it printed could not be read; else 0 */
	bool late;            /* it was ended, as it took too long */
	bool large;           /* it was ended, as it printed more than a gigabyte */
};

/* argv[0] is the program, with its path. */
void child_run(struct child *c, char *const argv[], unsigned seconds);
void child_free(struct child *c);

/* A program of ours: the one beside this one, else the one that PATH has. "./pjfold" of a build finds its neighbour. NULL: none. Freed. */
char *child_find(const char *name);

#endif
