/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfistarter.h - the process that starts openers and parsers (cfimaker.h): pjrecord-start.
 *
 * Each tenant has an opener and a parser of its own, which are started when code of a file of that tenant is sampled
 * first. The recorder then holds stacks and names of all tenants, and a process that it forks holds a copy. So it forks
 * this process while it holds nothing yet, which forks the others. They become children of the recorder, which reaps
 * them. This process reads nothing of a stranger.
 */
#ifndef PJ_CFISTARTER_H
#define PJ_CFISTARTER_H

#include "common/base.h"

#include <sys/types.h>

#define CFISTARTER_WAIT_MS 500

struct cfistarter {
	const char *proc;
	pid_t pid; /* 0: none */
	int socket;
};

/* Forks. To be called after privileges are dropped. */
void cfistarter_open(struct cfistarter *cfistarter, const char *proc);

/* Starts an opener and its parser. Waits for TABLESTARTER_WAIT_MS at most. Returns false if they could not be started.
 */
bool cfistarter_begin(struct cfistarter *cfistarter, int *socket, pid_t *opener, pid_t *parser);

void cfistarter_close(struct cfistarter *cfistarter);

#endif
