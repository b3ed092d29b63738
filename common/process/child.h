/* SPDX-License-Identifier: Apache-2.0 */
/*
 * child.h - runs a program, collects its output, and enforces limits of time and size. The calling
 * process may have threads.
 *
 *	struct child child;
 *	child_run(&child, argv, 600, &stop);
 *	if (child.status == 0) ... text_view(&child.out) ...
 *	child_free(&child);
 */
#ifndef PJ_CHILD_H
#define PJ_CHILD_H

#include "common/text.h"

#include <stdatomic.h>

/* Result of a program that child_run has run. */
struct child {
	/* complete standard output of the program, and at least the first 64 kB of its standard error */
	struct text out, err;
	/* exit status of the program; -1 if it was killed, not started, or its output could not be read completely */
	int status;
	/* signal that ended the program; 0: none */
	int signal;
	/* errno if the program could not be started or its output could not be read; 0 otherwise */
	int error;
	/* true if the program was killed at the time limit */
	bool late;
	/* true if the program was killed because it printed more than a gigabyte */
	bool large;
	/* true if the program was killed or failed because *stop was set */
	bool stopped;
};

/* Runs argv[0], the path of a program, with a minimal environment, and waits for its end. Kills it after `seconds`
 * (child->late), or when another thread or a signal handler sets *stop (child->stopped). A signal to the process group
 * (Ctrl-C, systemctl stop) can end the program before the handler of this process runs. So a failed program is also
 * marked as stopped if *stop is set within 100 ms. *child is overwritten. */
void child_run(struct child *child, char *const argv[], unsigned seconds, const atomic_bool *stop);
/* Like child_run, but the program also inherits the environment variable called `more`, such as a secret that it
 * needs. */
void child_run_with(struct child *child, char *const argv[], const char *more, unsigned seconds,
		    const atomic_bool *stop);
/* Frees the output in *child. */
void child_free(struct child *child);

#endif
