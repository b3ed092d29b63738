/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command.h - the child process that runs the recorded command.
 *
 * The child waits for a byte on a pipe before it calls exec, so the events are open when the command starts. It keeps
 * the credentials with which the recorder was started, even if the recorder drops privileges meanwhile. If the recorder
 * ends before it writes the byte, the child exits with status 125.
 *
 * Order of calls: command_fork, command_exec, then command_wait (or command_ended until it returns true).
 */
#ifndef PJ_COMMAND_H
#define PJ_COMMAND_H

#include "common/base.h"

#include <signal.h>
#include <sys/types.h>

struct command {
	/* pid of the child */
	pid_t pid;
	/* write end of the pipe to the child, on which one byte lets the child call exec; -1 after command_exec */
	int go;
	/* read end of the pipe from the child: it gives the errno of a failed exec, or end of file if exec succeeded */
	int failed;
	bool ended; /* true: the child has ended and was reaped */
};

/*
 * Forks the child; exits with a message on failure. to_stderr: true: the command's standard output goes to standard
 * error, because the recorder writes the recording to standard output. foreground: true: the command gets the default
 * actions of SIGINT and SIGQUIT, because a shell script makes its background jobs ignore these signals. Installs a
 * handler for SIGCHLD and blocks the signal in the recorder.
 */
void command_fork(struct command *command, char **argv, bool to_stderr, bool foreground);

/* Lets the child call exec, and waits for the result of exec. Returns 0 if the command runs, otherwise an errno. */
int command_exec(struct command *command);

/* Reaps the child if it has ended, without waiting. Returns true if it has ended, and sets *status to its exit status,
 * or to 128 + signal if a signal killed it. Returns false if it still runs. */
bool command_ended(struct command *command, int *status);

/* Waits for the end of the child and reaps it. Sends it one SIGTERM if *terminate is true, or becomes true by a handler
 * of SIGHUP, SIGINT or SIGTERM meanwhile. Sets *status to its exit status, or to 128 + signal if a signal killed it. */
void command_wait(struct command *command, const volatile sig_atomic_t *terminate, int *status);

#endif
