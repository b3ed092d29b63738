/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opt.h - parses the command line by a table of options. --help prints this table, and a test compares it with the man
 * page.
 *
 * The syntax is GNU style: --name=VALUE, --name VALUE, -o VALUE, -oVALUE, bundled single letters; `--` ends the
 * options. Abbreviated names are not allowed. Every tool has --help (-h), --version (-V) and --values in addition. An
 * invalid command line ends the tool with status 2.
 */
#ifndef PJ_OPT_H
#define PJ_OPT_H

#include "common/clocks.h"
#include "common/diag.h"
#include "common/filter/features.h"
#include "common/filter/out.h"
#include "common/str.h"

#define OPT_TIME_MOST (36500 * (86400 * SECOND_NS)) /* longest time of an option of kind OPT_SECONDS, in ns */

enum opt_kind {
	OPT_FLAG,     /* sets the bool at `to` to true */
	OPT_NOFLAG,   /* sets the bool at `to` to false */
	OPT_STR,      /* sets the const char * at `to` to the value, a pointer into argv */
	OPT_U64,      /* sets the uint64_t at `to` to the value, a decimal integer */
	OPT_DOUBLE,   /* sets the double at `to` to the value, a finite decimal number >= 0 */
	OPT_SECONDS,  /* sets the double at `to` to the value, a time of opt_duration, in s */
	OPT_CALL,     /* calls `call` with `to` and the value */
	OPT_CALL_FLAG /* calls `call` with `to` and NULL: the option has no value */
};

struct opt {
	char letter;      /* short option; 0: none */
	const char *name; /* long option without dashes; NULL: none */
	/* Name of the value in --help; NULL: the option has no value. "[=N]": the value is optional; without one,
	 * `call` gets NULL. */
	const char *arg;
	enum opt_kind kind;
	/* Variable that the option sets, or first argument of `call`. */
	void *to;
	/* Function for OPT_CALL and OPT_CALL_FLAG. It ends the tool by die_usage if the value is invalid. */
	void (*call)(void *to, const char *value, const char *name);
	const char *help; /* description in --help, in lower case; NULL: the option is an alias that --help omits */
};

/* A row that is no option, but a heading in --help for the rows after it. The man page has it as .Ss. */
#define OPT_GROUP(heading)                                   \
	{                                                    \
		0, NULL, NULL, OPT_FLAG, NULL, NULL, heading \
	}

/* A table of options that a tool builds from groups of rows. A zeroed one is empty. The caller frees `opt` after
 * opt_parse. */
struct opt_table {
	struct opt *opt;
	size_t n;
};

/* Appends n rows to the table. */
void opt_table_add(struct opt_table *table, const struct opt *rows, size_t n);

struct tool {
	const char *name;
	const char *does;     /* description of the tool in one line, equal to .Nd in its man page */
	const char *synopsis; /* syntax for --help, such as "[options] [file ...]" */
	const char *example;  /* example lines at the end of --help; NULL: none */
	const struct opt *opts;
	size_t nopts;
	bool single_dash_long; /* true: -title x is accepted as --title x, for options of FlameGraph */
	/* For a tool that runs a command: variable for the number of words of the command. The words of the command are
	 * the last operands: all after --, or all from the first operand on for which starts_command returns true.
	 * NULL: the tool runs no command. */
	size_t *command;
	bool (*starts_command)(const char *operand);
	/* Function for --values=OPTION: prints the possible values of an option whose `arg` is no list of choices
	 * "a|b|c", one a line. NULL: no option of the tool has such values. */
	void (*print_values)(struct out *out, const char *option);
	unsigned libraries; /* libraries that the tool uses, for --version: bits of enum library (features.h) */
};

/* Parses a decimal number from 0 to max, and an optional '%' after it, at the start of *strings. Sets *value and moves
 * *strings past the number and the '%'. Returns false if there is no such number. */
bool opt_number(const char **strings, double max, double *value);

/* Parses an integer with an optional letter: "2G", "500M", "10d". Returns the integer, times factor[i] if the letter is
 * letters[i]. Ends the tool on other text; the message has `name`, the option, and `example`, a valid value. */
uint64_t opt_scaled(const char *value, const char *name, const char *letters, const uint64_t *factor,
		    const char *example);
/* Parses a time: a decimal number of seconds, or of the unit us, ms, s, m, h or d after it: "1.5", "200ms", "36h". Sets
 * *ns to the time in ns. Returns false for other text, and for a time of 2^64 ns or more. */
bool opt_is_duration(struct str string, uint64_t *ns);
/* Parses the value of option `name` like opt_is_duration and returns the time in ns. Ends the tool on other text, and
 * if the time is less than `least` or more than `most` ns. */
uint64_t opt_duration(const char *value, const char *name, uint64_t least, uint64_t most);
/* For OPT_CALL: sets the uint64_t at `to` to a number of bytes; the value may end in k, K, M, G or T. */
void opt_bytes(void *to, const char *value, const char *name);

/* For OPT_CALL: sets the const char * at `to` to the path of a text that pjsvg draws. Ends the tool if the path ends
 * like that of a picture, such as .svg. */
void opt_text_path(void *to, const char *value, const char *name);

/* For OPT_CALL: sets the const char * at `to` to the path of a picture that the tool writes as SVG. Ends the tool if
 * the path ends in the suffix of another format, such as .png. */
void opt_svg_path(void *to, const char *value, const char *name);

/* Parses POINTS[,REL%], the smallest changes to report. Sets *points to POINTS, a percentage of the total, and
 * *relative to REL / 100, a fraction of the larger side. Without REL, *relative stays unchanged. Ends the tool on other
 * text. */
void opt_min_delta(const char *value, const char *name, double *points, double *relative);

/* Returns the index of the value in the list of choices "a|b|c", from 0. Ends the tool on other text; the message names
 * the most similar choice. */
size_t opt_choice(const char *value, const char *name, const char *choices);

/* Parses the command line and sets the variables of the options. Returns the operands, with NULL at the end, in the
 * memory of argv. */
char **opt_parse(const struct tool *tool, int argc, char **argv);

#endif
