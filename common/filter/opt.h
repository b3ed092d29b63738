/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opt.h - one table is the command line: it is parsed, printed by --help and checked against the man page.
 *
 * GNU style: --name=VALUE, --name VALUE, -o VALUE, -oVALUE, bundled single letters, `--` ends options. No
 * abbreviations.
 * --help and --version are added to every tool. What is wrong on the command line ends the tool with status 2.
 */
#ifndef PJ_OPT_H
#define PJ_OPT_H

#include "common/diag.h"
#include "common/str.h"

enum opt_kind {
	OPT_FLAG,     /* bool *: true */
	OPT_NOFLAG,   /* bool *: false */
	OPT_STR,      /* const char **: the value */
	OPT_U64,      /* uint64_t *: an integer */
	OPT_DOUBLE,   /* double *: a finite decimal number >= 0 */
	OPT_CALL,     /* function, called with the value */
	OPT_CALL_FLAG /* function, called with NULL */
};

struct opt {
	char letter;      /* 0: none */
	const char *name; /* without dashes; NULL: none */
	const char *arg;  /* what --help calls the value; NULL: takes none; "[=N]": OPT_CALL, may be missing (NULL) */
	enum opt_kind kind;
	void *to;                                                    /* destination of the value */
	void (*call)(void *to, const char *value, const char *name); /* OPT_CALL*; dies with die_usage on a bad value */
	const char *help; /* one line, lower case; NULL: an accepted alias, not shown */
};

struct tool {
	const char *name;
	const char *does;     /* same as the man page's .Nd */
	const char *synopsis; /* "[options] [file ...]" */
	const char *example;  /* lines shown at the end of --help, or NULL */
	const struct opt *opts;
	size_t nopts;
	bool single_dash_long; /* FlameGraph's habit: -title x is --title x */
};

/* Values that several options have, for their calls. A plain decimal of 0 to most, with or without '%' after it;
 * *strings is moved after it. Returns false if there is none. */
bool opt_number(const char **strings, double max, double *value);

/* "2G", "500M", "10d": an integer followed by one of the letters or none, each with its factor. Dies on another
 * value. */
uint64_t opt_scaled(const char *value, const char *name, const char *letters, const uint64_t *factor,
		    const char *example);
void opt_bytes(void *to, const char *value, const char *name); /* for OPT_CALL: k, M, G, T into a uint64_t */

/* POINTS[,REL%]: the least change in percent of the total, and relative, which stays what it was where it is not given.
 * Dies on another value. */
void opt_min_delta(const char *value, const char *name, double *points, double *relative);

/* Sets the values of the options and returns the operands (NULL at their end) in argv's own memory. */
char **opt_parse(const struct tool *tool, int argc, char **argv);

#endif
