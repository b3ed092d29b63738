/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sendopts.h - command line of pjsend.
 *
 * sendopts_parse fills a struct request with options, operands and defaults. All strings are those of argv or of the
 * environment and are not freed, except labels.
 */
#ifndef PJ_SENDOPTS_H
#define PJ_SENDOPTS_H

#include "send/store.h"

/* The parsed command line. Options without a comment are those of the same name in pjsend(1). */
struct request {
	/* path of DIR; "." by default; NULL if the input is a pipe and no DIR is given */
	const char *dir;
	/* store to which windows are sent; NULL: dir:DIR/store */
	const char *store;
	/* options of the store, which pjsend and pjfetch share (store.h) */
	struct store_options options;
	/* true: the operand is "-": pjsend sends standard input instead of recordings */
	bool pipe;
	bool once, quiet, keep_spool, schema, tidy;
	/* interval in s of listing DIR/out */
	double interval;
	/* rate of the backlog: number of windows that are sent in the time that one window spans; 0: no limit */
	double catch_up;
	/* longest time in s for which a window waits for pjmap's next scan */
	double map_wait;
	/* longest delay of the first attempt in s; negative: not given */
	double splay;
	/* share of the file system to keep free, 0 to 1 */
	double min_free;
	/* limit of spool/ and bad/ in bytes */
	uint64_t spool_bytes;
	/* true: the first frame of each stack is comm-PID */
	bool pids;
	/* labels "k=v,k2=v2", sorted by key, as in the header of a window */
	struct text labels;
	/* name of the host in windows; NULL: that of the recording */
	const char *host;
	/* window of a pipe: start in s since 1970; duration in s (0: that of its header, else 1) */
	uint64_t time, seconds;
	/* more options for pjfold; the last entry is NULL */
	const char *option[32];
	size_t noptions;
};

/* Parses argv into *request, which is {0} at first. Exits with a message (die_usage) if it is wrong. With --schema
 * and --tidy the other options are not checked for consistency. */
void sendopts_parse(struct request *request, int argc, char **argv);

#endif
