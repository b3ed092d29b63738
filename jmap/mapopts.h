/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mapopts.h - parses the command line of pjmap.
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

/* The parsed command line. Members without a comment are options of pjmap(1) with the same name. */
struct request {
	bool list, once, to_stdout, quiet;
	/* true if pjmap must end when its parent process ends */
	bool with_parent;
	/* true if pjmap -i maintains perf-PID.map files */
	bool perf_map;
	/* interval between scans of one JVM, in ns; 0 without -i */
	uint64_t interval;
	/* operand above 60 that was parsed as the interval, but may be meant as a pid; 0 if there is none */
	pid_t fp;
	/* limit for the size of DIR/maps in bytes; 0 means no limit */
	uint64_t keep_bytes;
	/* path of the spool directory DIR, which has timelines in DIR/maps */
	const char *dir;
	/* directory for perf-PID.map files; NULL means /tmp */
	const char *to;
	/* path of the proc file system: "/proc" */
	const char *proc;
	/* spelling of method names in maps */
	enum method_style style;
	/* how pjmap gets the map of a JVM; JCMDMAP_NOT: it reads the memory of the JVM */
	enum jcmdmap_method method;
	/* selected processes; mapopts_free frees the array */
	pid_t *pid;
	/* number of selected processes; 0 means all JVMs */
	size_t npids;
	/* process that writes the perf-PID.map files; NULL if pjmap writes none */
	struct publisher *publisher;
};

/* Parses the command line into *request. Exits with a message if the command line is invalid. */
void mapopts_parse(struct request *request, int argc, char **argv);
/* Frees the list of pids in *request. */
void mapopts_free(struct request *request);

/* Drops all capabilities except those for reading other processes and, with --method=jcmd or agent, for changing to
 * their users. To be called after everything is open that needs more rights. Exits with a message on failure. */
void mapopts_limit(const struct request *request);

#endif
