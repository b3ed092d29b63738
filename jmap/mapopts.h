/* SPDX-License-Identifier: Apache-2.0 */
/* mapopts.h - the command line of pjmap. */
#ifndef PJ_MAPOPTS_H
#define PJ_MAPOPTS_H

#include "jmap/attach/jcmdmap.h"
#include "jmap/perfmap/publisher.h"

#include <sys/types.h>

struct request {
	bool list, once, to_stdout, quiet;
	bool with_parent;    /* ends with who started it */
	bool perf_map;       /* keep perf-PID.map current */
	uint64_t interval;   /* ns */
	pid_t fp;            /* the interval was given without -i, and might be the number of a process; 0: no */
	uint64_t keep_bytes; /* of DIR/maps; 0: no limit */
	const char *dir;     /* of the timelines: DIR/maps */
	const char *to;      /* folder of the maps */
	const char *proc;    /* /proc */
	enum method_style style;
	enum jcmdmap_method method;
	pid_t *pid;
	size_t npids;                /* 0: all JVMs */
	struct publisher *publisher; /* writes the maps; NULL: none are written */
};

void mapopts_parse(struct request *request, int argc, char **argv);
void mapopts_free(struct request *request);

/* Gives up all capabilities but those to look into processes, and with --method=jcmd and agent those to become their
 * users. To be called when all is open that needs more. */
void mapopts_limit(const struct request *request);

#endif
