/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diag.h - messages of a tool on stderr, and functions that end the tool with a message.
 *
 * "pjfold: out/1.data:12: no weight at the end of the line": tool, position, message; lower case, no full stop. One
 * write per message, control bytes, invalid UTF-8 and what reorders text in quoted input shown as \xNN, stdout never
 * touched. Statuses as in pj(7).
 */
#ifndef PJ_DIAG_H
#define PJ_DIAG_H

#include "common/base.h"

enum pj_status {
	PJ_OK = 0,
	PJ_FAILED = 1,    /* the work failed, had no usable input, or is incomplete */
	PJ_USAGE = 2,     /* the command line is wrong */
	PJ_THRESHOLD = 3, /* a limit that the user set was exceeded */
};

/* A position in the input, printed as "name:line"; as "name" if line is 0. Without a name nothing is printed. */
struct place {
	const char *name;
	uint64_t line;
};

/* Sets the name of the tool for messages. main calls it first. The state of diag.c is the only global one of the
 * suite. */
void diag_tool(const char *name);
const char *diag_tool_name(void);

/* Returns true if the standard descriptor fd was a terminal when diag_tool was called. A process that gave up its
 * rights cannot find that out any more. */
bool diag_is_terminal(int fd);

void warn(const char *fmt, ...) PRINTF(1, 2);
void warn_at(struct place place, const char *fmt, ...) PRINTF(2, 3);
/* Prints a message and exits with PJ_FAILED. */
NORETURN void die(const char *fmt, ...) PRINTF(1, 2);
/* Like die, with a position. */
NORETURN void die_at(struct place place, const char *fmt, ...) PRINTF(2, 3);
/* Like die; appends ": " and the text of errno. */
NORETURN void die_errno(const char *fmt, ...) PRINTF(1, 2);
/* Prints a message that refers to --help, and exits with PJ_USAGE. */
NORETURN void die_usage(const char *fmt, ...) PRINTF(1, 2);

/* Sets the exit status of die*(), except die_usage, in place of PJ_FAILED: for tools that pass on the status of another
 * program. */
void diag_failure_is(int status);

/* Sets the function that die*() calls before the process ends, to remove incomplete files. There is at most one such
 * function. */
void diag_at_death(void (*clean)(void));

/* Adds a function that exit(), the end of main and die*() call once, the last added first; at most four. _exit() in a
 * child process does not call it. */
void diag_at_end(void (*end)(void));

#endif
