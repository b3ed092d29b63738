/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command.h - child process that runs the recorded command.
 *
 * The child waits for a byte on a pipe before it calls exec, so that the events are open when the command starts. It
 * keeps the credentials that the recorder was started with, whatever privileges the recorder drops meanwhile. If the
 * recorder ends before it writes the byte, the child exits with status 125.
 *
 * Order of calls: command_fork, then either command_exec and command_wait (or command_ended until it returns true), or
 * command_abandon.
 */
#ifndef PJ_COMMAND_H
#define PJ_COMMAND_H

#include "common/base.h"

#include <sys/types.h>

struct command {
	pid_t pid;
	int go;     /* write end of the pipe to the child: one byte lets the child call exec; -1 after that */
	int failed; /* read end of the pipe from the child: errno of a failed exec; end of file if exec succeeded */
	bool ended; /* it has been reaped */
};

/*
 * Forks the child; ends the recorder with a message if it cannot. With to_stderr the command's standard output goes to
 * standard error, because the recorder writes the recording to standard output. Installs a handler for SIGCHLD and
 * blocks the signal in the recorder.
 */
void command_fork(struct command *command, char **argv, bool to_stderr);

/* Lets the child call exec and waits for the result. Returns 0 if the command runs, else an errno. */
int command_exec(struct command *command);

/* Reaps the child if it has ended, without waiting. *status is its exit status, or 128 + signal if it was killed. */
bool command_ended(struct command *command, int *status);

/* Waits for the end of the child and reaps it. *status is as for command_ended. */
void command_wait(struct command *command, int *status);

/* Closes the pipe, so that the child exits without exec, and reaps the child. */
void command_abandon(struct command *command);

#endif
