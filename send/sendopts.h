/* SPDX-License-Identifier: Apache-2.0 */
/* sendopts.h - pjsend's command line. */
#ifndef PJ_SENDOPTS_H
#define PJ_SENDOPTS_H

#include "send/store.h"

struct request {
	const char *dir;   /* NULL: none was given */
	const char *store; /* NULL: dir:DIR/store */
	struct store_options options;
	bool pipe; /* standard input is what is sent */
	bool once, quiet, keep_spool, schema, tidy;
	double interval; /* s; 0: not given */
	double catch_up;
	double map_wait;
	double splay;    /* s; below 0: not given */
	double min_free; /* 0..1 */
	uint64_t spool_bytes;
	bool pids;
	struct text labels; /* as windows have them */
	const char *host;
	uint64_t time, seconds; /* of a pipe */
	const char *option[32]; /* for pjfold */
	size_t noptions;
};

void sendopts_parse(struct request *request, int argc, char **argv);

#endif
