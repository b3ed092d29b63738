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

/* The parsed command line. Members without a comment are the options of the same name in pjmap(1). */
struct request {
	bool list, once, to_stdout, quiet;
	/* true: pjmap ends when its parent process ends */
	bool with_parent;
	/* true: pjmap -i maintains perf-PID.map files */
	bool perf_map;
	/* interval between two scans of a JVM, in ns; 0 without -i */
	uint64_t interval;
	/* number above 60 that was given as the interval without -i, and may be meant as a pid; else 0 */
	pid_t fp;
	/* maximum size of DIR/maps in bytes; 0: no limit */
	uint64_t keep_bytes;
	/* spool directory DIR; timelines are in DIR/maps */
	const char *dir;
	/* directory for perf-PID.map files; NULL: /tmp */
	const char *to;
	/* path of the proc file system */
	const char *proc;
	/* style: spelling of names; method: how the map is read or requested; pid: selected processes, freed by
	 * mapopts_free */
	enum method_style style;
	enum jcmdmap_method method;
	pid_t *pid;
	/* number of selected processes; 0: all JVMs */
	size_t npids;
	/* process that writes the perf-PID.map files; NULL: pjmap writes none */
	struct publisher *publisher;
};

/* Parses the command line into *request. Exits with a message if it is wrong. */
void mapopts_parse(struct request *request, int argc, char **argv);
/* Frees the list of pids in *request. */
void mapopts_free(struct request *request);

/* Drops all capabilities except those that are needed to read processes and, with --method=jcmd and agent, to become
 * their users. Call it after all that needs more rights is open. */
void mapopts_limit(const struct request *request);

#endif
