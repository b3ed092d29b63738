/* SPDX-License-Identifier: Apache-2.0 */
/* child.h - a program is run, what it prints is taken, and it never stays longer than it may. Safe while there are
 * threads. */
#ifndef PJ_CHILD_H
#define PJ_CHILD_H

#include "common/text.h"

#include <stdatomic.h>

struct child {
	struct text out, err; /* what it printed; err: the first 64 kB */
	int status;           /* of exit, or -1 */
	int signal;           /* that ended it, or 0 */
	int error;            /* errno: it could not be started, or what it printed could not be read; else 0 */
	bool late;            /* it was ended, as it took too long */
	bool large;           /* it was ended, as it printed more than a gigabyte */
	bool stopped;         /* it did not end well, and *stop was set */
};

/* Runs argv[0], the path of a program, and waits for its end: until `seconds` have passed (child->late), or another
 * thread or a signal handler has set *stop (child->stopped), which kills it. A signal for a group of processes (Ctrl-C,
 * systemctl stop) can end the program before our handler has run: a program that fails counts as stopped if *stop is
 * set within 100 ms, too. */
void child_run(struct child *child, char *const argv[], unsigned seconds, const atomic_bool *stop);
void child_free(struct child *child);

/* A program of ours: the one beside this one, else the one that PATH has. "./pjfold" of a build finds its neighbour.
 * NULL: none. Freed. */
char *child_find(const char *name);

#endif
