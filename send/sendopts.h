/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sendopts.h - command line of pjsend.
 *
 * sendopts_parse fills a struct request with options, operands and defaults. The strings point into argv or the
 * environment and are not freed; `labels` owns its memory.
 */
#ifndef PJ_SENDOPTS_H
#define PJ_SENDOPTS_H

#include "send/store.h"

/* The parsed command line. A member without a comment is the option of that name in pjsend(1). */
struct request {
	/* path of DIR; default "."; NULL if the input is a pipe and no DIR is given */
	const char *dir;
	/* spec of the store to which windows are sent; NULL: dir:DIR/store */
	const char *store;
	/* options of the store, common to pjsend and pjfetch (store.h) */
	struct store_options options;
	/* true if the operand is "-": pjsend sends standard input, not recordings */
	bool pipe;
	bool once, quiet, keep_spool, schema, tidy;
	/* interval in s at which pjsend lists DIR/out */
	double interval;
	/* maximum rate of the backlog: number of windows sent in the time that one window spans; 0: no limit */
	double catch_up;
	/* longest time in s that a window waits for pjmap's next scan */
	double map_wait;
	/* longest delay of the first attempt in s; negative if the option is not given */
	double splay;
	/* share of the file system that pjsend keeps free, 0 to 1 */
	double min_free;
	/* limit in bytes of spool/ and bad/ together */
	uint64_t spool_bytes;
	/* true if the first frame of each stack is comm-PID */
	bool pids;
	/* labels "k=v,k2=v2" as in a window's header, sorted by key */
	struct text labels;
	/* host name to use in windows; NULL: the host name in the recording */
	const char *host;
	/* window from a pipe: time: start in s since 1970; seconds: duration in s, 0: from its header, else 1 */
	uint64_t time, seconds;
	/* additional options for pjfold; the last entry is NULL */
	const char *option[32];
	size_t noptions;
};

/* Parses argv into *request, which is {0} before. Exits with a usage message if the command line is invalid. With
 * --schema or --tidy the combination of the other options is not checked. */
void sendopts_parse(struct request *request, int argc, char **argv);

#endif
