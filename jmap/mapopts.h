/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mapopts.h - command line of pjmap.
 *
 *	mapopts_parse(&request, argc, argv);
 *	mapopts_limit(&request);
 *	mapopts_free(&request);
 */
#ifndef PJ_MAPOPTS_H
#define PJ_MAPOPTS_H

#include "jmap/attach/jcmdmap.h"
#include "jmap/perfmap/publisher.h"

#include <sys/types.h>

/* The parsed command line; options without a comment are those of the same name in pjmap(1). */
struct request {
	bool list, once, to_stdout, quiet;
	/* end when the parent process ends */
	bool with_parent;
	/* maintain perf-PID.map */
	bool perf_map;
	/* in ns */
	uint64_t interval;
	/* the interval, given without -i, if it may be a pid instead; else 0 */
	pid_t fp;
	/* limit of DIR/maps in bytes; 0: none */
	uint64_t keep_bytes;
	/* DIR; timelines are in DIR/maps */
	const char *dir;
	/* folder of the maps; NULL: /tmp */
	const char *to;
	/* path of /proc */
	const char *proc;
	/* spelling of names; method that gets the map; pids, freed by mapopts_free */
	enum method_style style;
	enum jcmdmap_method method;
	pid_t *pid;
	/* 0: all JVMs */
	size_t npids;
	/* process that writes the maps; NULL: none are written */
	struct publisher *publisher;
};

/* Parses argv into *request. Exits with a message if it is wrong. */
void mapopts_parse(struct request *request, int argc, char **argv);
/* Frees the list of pids. */
void mapopts_free(struct request *request);

/* Drops all capabilities except those to read processes and, with --method=jcmd and agent, to become their users.
 * Call it when everything is open that needs more. */
void mapopts_limit(const struct request *request);

#endif
