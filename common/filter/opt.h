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
	OPT_FLAG,     /* `to` is a bool *, which becomes true */
	OPT_NOFLAG,   /* `to` is a bool *, which becomes false */
	OPT_STR,      /* `to` is a const char **, which becomes the value */
	OPT_U64,      /* `to` is a uint64_t *; the value is an integer */
	OPT_DOUBLE,   /* `to` is a double *; the value is a finite decimal number >= 0 */
	OPT_CALL,     /* function, called with the value */
	OPT_CALL_FLAG /* function, called with NULL */
};

struct opt {
	char letter;      /* 0: none */
	const char *name; /* without dashes; NULL: none */
	const char *arg;  /* name of the value in --help; NULL: takes none; "[=N]": OPT_CALL, may be missing (NULL) */
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
	bool single_dash_long; /* accepts -title x for --title x, as FlameGraph does */
	/* For a tool that runs a command: receives the number of the last operands that are its words, those after --
	 * or from the first operand on for which starts_command returns true. NULL: the tool runs none. */
	size_t *command;
	bool (*starts_command)(const char *operand);
};

/* Parses a plain decimal from 0 to most, with or without '%', and moves *strings after it. Returns false if there is
 * none. */
bool opt_number(const char **strings, double max, double *value);

/* Parses an integer followed by at most one of the letters, each with its factor: "2G", "500M", "10d". Dies on other
 * text. */
uint64_t opt_scaled(const char *value, const char *name, const char *letters, const uint64_t *factor,
		    const char *example);
void opt_bytes(void *to, const char *value, const char *name); /* for OPT_CALL: k, M, G, T into a uint64_t */

/* Parses POINTS[,REL%], the smallest change in percent of the total, and relative to the larger side. A missing REL
 * leaves the value unchanged. Dies on other text. */
void opt_min_delta(const char *value, const char *name, double *points, double *relative);

/* Sets the values of the options and returns the operands (NULL at their end) in argv's own memory. */
char **opt_parse(const struct tool *tool, int argc, char **argv);

#endif
