/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diag.h - prints a tool's messages on stderr, and ends the tool with a message.
 *
 * A message has tool, position and text, in lower case without a full stop: "pjfold: out/1.data:12: no weight at the
 * end of the line". Each message is one write(). In quoted input, control bytes, invalid UTF-8 and characters that
 * reorder text are printed as \xNN. These functions do not write to stdout. Exit statuses are those of pj(7).
 */
#ifndef PJ_DIAG_H
#define PJ_DIAG_H

#include "common/base.h"

enum pj_status {
	PJ_OK = 0,
	PJ_FAILED = 1,    /* the work failed, had no usable input, or is incomplete */
	PJ_USAGE = 2,     /* the command line is wrong */
	PJ_THRESHOLD = 3, /* a limit that the user set was reached or exceeded */
};

/* A position in the input, printed as "name:line", or as "name" if line is 0. If name is NULL, no position is
 * printed. */
struct place {
	const char *name;
	uint64_t line;
};

/* Sets the name of the tool for messages. main() must call it first. */
void diag_tool(const char *name);
const char *diag_tool_name(void);

/* Returns true if the standard descriptor fd (0 to 2) was a terminal when diag_tool was called. The result is stored at
 * that time, because a process in a sandbox cannot test descriptors. */
bool diag_is_terminal(int fd);

void warn(const char *fmt, ...) PRINTF(1, 2);
void warn_at(struct place place, const char *fmt, ...) PRINTF(2, 3);
/* Prints a message and exits with PJ_FAILED. */
NORETURN void die(const char *fmt, ...) PRINTF(1, 2);
/* Like die, with a position in the input before the message. */
NORETURN void die_at(struct place place, const char *fmt, ...) PRINTF(2, 3);
/* Like die, but appends ": " and the text of errno. */
NORETURN void die_errno(const char *fmt, ...) PRINTF(1, 2);
/* Prints a message that refers to --help, and exits with PJ_USAGE. */
NORETURN void die_usage(const char *fmt, ...) PRINTF(1, 2);

/* Sets the exit status of the die*() functions except die_usage, in place of PJ_FAILED: for tools that pass on the
 * status of another program. */
void diag_failure_is(int status);

/* Sets the function that the die*() functions call before the process ends, to remove incomplete files. This function
 * replaces the one that was set before. */
void diag_at_death(void (*clean)(void));

/* Registers a function that runs once when the tool ends by exit(), by return from main or by die*(); the function
 * registered last runs first. A function that is registered already stays at its place. At most four functions; a fifth
 * ends the tool with a message. _exit() in a child process does not run them. */
void diag_at_end(void (*end)(void));

#endif
