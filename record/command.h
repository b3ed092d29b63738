/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command.h - the program that is recorded from its exec on.
 *
 * The child waits for a word before it calls exec, so that events are ready and begin with it; it has the credentials
 * we were started with, whatever we drop meanwhile.
 */
#ifndef PJ_COMMAND_H
#define PJ_COMMAND_H

#include "common/base.h"

#include <sys/types.h>

struct command {
	pid_t pid;
	int go;     /* a byte written there lets it exec */
	int failed; /* errno of exec comes from there; nothing when it succeeded */
};

/* to_stderr: our standard output is the recording's; what the command prints must not get into it. */
void command_fork(struct command *command, char **argv, bool to_stderr);
int command_exec(struct command *command); /* lets it go; errno of its exec, 0: it runs */
bool command_ended(struct command *command,
		   int *status); /* without waiting; status as exit statuses are: 128 + signal when killed */
void command_wait(struct command *command, int *status);
void command_abandon(struct command *command); /* it never runs */

#endif
