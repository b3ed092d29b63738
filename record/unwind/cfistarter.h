/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfistarter.h - forks openers and parsers (cfimaker.h) from a small process, pjrecord-start.
 *
 * Each tenant has an opener and a parser of its own, which are started when code of that tenant's files is sampled
 * first. At that time the recorder's memory holds stacks and names of all tenants, and a forked process would have a
 * copy. The recorder therefore forks this process while its memory is still empty, and this process forks the others.
 * They become children of the recorder, which reaps them. This process reads no data of targets.
 */
#ifndef PJ_CFISTARTER_H
#define PJ_CFISTARTER_H

#include "common/base.h"

#include <sys/types.h>

/* Longest time in ms that cfistarter_begin waits for the process. */
#define CFISTARTER_WAIT_MS 500

struct cfistarter {
	const char *proc;
	pid_t pid; /* pid of the process; 0: it does not run */
	/* recorder's end of the socket to the process; -1: none */
	int socket;
};

/* Forks the process pjrecord-start. The caller has dropped privileges before. proc is "/proc" and must exist until
 * cfistarter_close. */
void cfistarter_open(struct cfistarter *cfistarter, const char *proc);

/* Starts an opener and its parser, within CFISTARTER_WAIT_MS, and sets their pids. *socket is the recorder's end of the
 * opener's socket, which the caller closes; the caller reaps both processes. Forks pjrecord-start again if it has
 * ended. Returns false if the two could not be started. */
bool cfistarter_begin(struct cfistarter *cfistarter, int *socket, pid_t *opener, pid_t *parser);

/* Kills pjrecord-start and reaps it. Openers and parsers that it started continue. */
void cfistarter_close(struct cfistarter *cfistarter);

#endif
