/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diag.h - messages of a tool on stderr, and its end.
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
	PJ_FAILED = 1,    /* failed, nothing usable, or incomplete */
	PJ_USAGE = 2,     /* wrong command line */
	PJ_THRESHOLD = 3, /* a limit that the user set was crossed */
};

/* A position in the input, printed as "name:line". line 0: the name alone. */
struct place {
	const char *name;
	uint64_t line;
};

void diag_tool(const char *name); /* to be called first in main; the one global of the suite */
const char *diag_tool_name(void);

/* Returns true if standard descriptor fd was a terminal when the tool began. A process that gave up its rights cannot
 * see that any more. */
bool diag_is_terminal(int fd);

void warn(const char *fmt, ...) PRINTF(1, 2);
void warn_at(struct place place, const char *fmt, ...) PRINTF(2, 3);
NORETURN void die(const char *fmt, ...) PRINTF(1, 2);                        /* exit PJ_FAILED */
NORETURN void die_at(struct place place, const char *fmt, ...) PRINTF(2, 3); /* exit PJ_FAILED */
NORETURN void die_errno(const char *fmt, ...) PRINTF(1, 2);                  /* appends ": " strerror(errno) */
NORETURN void die_usage(const char *fmt, ...) PRINTF(1, 2);                  /* exit PJ_USAGE, points at --help */

/* Makes die*(), but for die_usage, end with this status in place of PJ_FAILED: for tools that pass on the status of
 * another. */
void diag_failure_is(int status);

/* Sets a function that die*() calls before the process ends, to remove incomplete files. At most one. */
void diag_at_death(void (*clean)(void));

#endif
