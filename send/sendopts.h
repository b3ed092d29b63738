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
	/* DIR; "." by default; NULL with a pipe and no DIR */
	const char *dir;
	/* store to write; NULL: dir:DIR/store */
	const char *store;
	/* options that both tools share (store.h) */
	struct store_options options;
	/* operand "-": sends standard input instead of recordings */
	bool pipe;
	bool once, quiet, keep_spool, schema, tidy;
	/* seconds between looks at DIR/out */
	double interval;
	/* rate of the backlog, in windows for each window length; 0: no limit */
	double catch_up;
	/* seconds to wait for pjmap's next scan */
	double map_wait;
	/* range of the delay of the first attempt in seconds; negative: not given */
	double splay;
	/* share of the file system to keep free, 0 to 1 */
	double min_free;
	/* limit of spool/ and bad/ in bytes */
	uint64_t spool_bytes;
	/* first frames are comm-PID */
	bool pids;
	/* "k=v,k2=v2" by key, as in the header of a window */
	struct text labels;
	/* name of the host; NULL: that of the recording */
	const char *host;
	/* of a pipe: start in s since 1970, duration in s (0: that of its header, else 1) */
	uint64_t time, seconds;
	/* more options for pjfold, NULL at the end */
	const char *option[32];
	size_t noptions;
};

/* Parses argv into *request, which is {0} at first. Exits with a message (die_usage) if it is wrong. With --schema
 * and --tidy the other options are not checked for consistency. */
void sendopts_parse(struct request *request, int argc, char **argv);

#endif
