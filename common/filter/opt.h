/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opt.h - parses the command line by a table of options, which --help prints and a test compares with the man page.
 *
 * GNU style: --name=VALUE, --name VALUE, -o VALUE, -oVALUE, bundled single letters, `--` ends options. No
 * abbreviations.
 * --help (-h), --version (-V) and --values are added to every tool. An invalid command line ends the tool with
 * status 2.
 */
#ifndef PJ_OPT_H
#define PJ_OPT_H

#include "common/diag.h"
#include "common/filter/features.h"
#include "common/filter/out.h"
#include "common/str.h"

enum opt_kind {
	OPT_FLAG,     /* sets the bool at `to` to true */
	OPT_NOFLAG,   /* sets the bool at `to` to false */
	OPT_STR,      /* sets the const char * at `to` to the value */
	OPT_U64,      /* sets the uint64_t at `to` to the value, a decimal integer */
	OPT_DOUBLE,   /* sets the double at `to` to the value, a finite decimal number >= 0 */
	OPT_CALL,     /* calls `call` with the value */
	OPT_CALL_FLAG /* calls `call` with NULL as the value: the option has none */
};

struct opt {
	char letter;      /* short option; 0: none */
	const char *name; /* long option without dashes; NULL: none */
	/* Name of the value in --help; NULL: the option has no value. "[=N]": the value may be missing; `call` then
	 * gets NULL. */
	const char *arg;
	enum opt_kind kind;
	/* Variable that the option sets, or first argument of `call`. */
	void *to;
	/* Function for OPT_CALL and OPT_CALL_FLAG; ends the tool by die_usage if the value is invalid. */
	void (*call)(void *to, const char *value, const char *name);
	const char *help; /* line for --help, in lower case; NULL: the option is an alias, which --help does not show */
};

/* A row of the table of options that is only a heading in --help for the rows after it. The man page has it as .Ss. */
#define OPT_GROUP(heading)                                   \
	{                                                    \
		0, NULL, NULL, OPT_FLAG, NULL, NULL, heading \
	}

struct tool {
	const char *name;
	const char *does;     /* one line about the tool; the same as .Nd in its man page */
	const char *synopsis; /* operands for --help, as "[options] [file ...]" */
	const char *example;  /* lines at the end of --help, or NULL */
	const struct opt *opts;
	size_t nopts;
	bool single_dash_long; /* true: -title x is accepted for --title x, as in FlameGraph */
	/* For a tool that runs a command: receives the number of the command's words. These are the last operands:
	 * those after --, or from the first operand on if starts_command returns true for it. NULL: the tool runs no
	 * command. */
	size_t *command;
	bool (*starts_command)(const char *operand);
	/* Function for --values=OPTION of an option whose `arg` is no list of choices "a|b|c": prints the words that
	 * the option takes, one a line. NULL: no option has such words. */
	void (*print_values)(struct out *out, const char *option);
	unsigned libraries; /* that it uses, for --version: LIBRARY_ZLIB | ... of features.h */
};

/* Parses a decimal number from 0 to max at the start of *strings, sets *value, and moves *strings behind the number and
 * a
 * '%' after it. Returns false if there is no such number. */
bool opt_number(const char **strings, double max, double *value);

/* Returns an integer, multiplied by factor[i] if letters[i] follows it: "2G", "500M", "10d". Ends the tool on other
 * text, with `example` in the message. */
uint64_t opt_scaled(const char *value, const char *name, const char *letters, const uint64_t *factor,
		    const char *example);
/* For OPT_CALL: sets the uint64_t at `to` to a number of bytes with an optional k, K, M, G or T. */
void opt_bytes(void *to, const char *value, const char *name);

/* Parses POINTS[,REL%], the least changes to report. Sets *points to POINTS, in percent of the total, and *relative to
 * REL / 100, relative to the larger side. Without REL, *relative stays unchanged. Ends the tool on other text. */
void opt_min_delta(const char *value, const char *name, double *points, double *relative);

/* Returns the index of the value in the choices "a|b|c", from 0. Ends the tool on other text; the message names the
 * most similar choice. */
size_t opt_choice(const char *value, const char *name, const char *choices);

/* Parses the command line: sets the variables of the options. Returns the operands, ended by NULL, in the memory of
 * argv.
 */
char **opt_parse(const struct tool *tool, int argc, char **argv);

#endif
