/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfistarter.h - forks openers and parsers (cfimaker.h), and the helper process for interpreters (interphelper.h), from
 * a small process, pjrecord-start.
 *
 * Each tenant has its own opener and parser. They start when code of that tenant's files is sampled for the first
 * time; the helper for interpreters starts when the first interpreter is sampled. By then the recorder's memory holds
 * stacks and names of all tenants, and a process forked from the recorder would get a copy. So the recorder forks
 * pjrecord-start while its own memory is still empty, and pjrecord-start forks the other processes. They become
 * children of the recorder, which reaps them. pjrecord-start reads no data of targets. Only if it was killed does the
 * recorder fork another one from its full memory, and later processes hold a copy of that.
 *
 * Any thread may call cfistarter_begin and cfistarter_begin_interphelper.
 */
#ifndef PJ_CFISTARTER_H
#define PJ_CFISTARTER_H

#include "common/base.h"

#include <pthread.h>
#include <sys/types.h>

/* Maximum time in ms that a request waits for the reply of pjrecord-start; then the request kills pjrecord-start and
 * fails. Requests of several threads wait for each other before that time begins. */
#define CFISTARTER_WAIT_MS 500

struct cfistarter {
	const char *proc;
	pid_t pid; /* pid of pjrecord-start; 0: it does not run */
	/* recorder's end of the socket to pjrecord-start; -1: pjrecord-start does not run */
	int socket;
	pthread_mutex_t lock; /* held from a request to its reply; protects pid and socket */
};

/* Forks pjrecord-start. The caller must have dropped privileges. proc is "/proc", and the string must exist until
 * cfistarter_close. On failure, the next request tries again. */
void cfistarter_open(struct cfistarter *cfistarter, const char *proc);

/* Starts an opener and its parser within twice CFISTARTER_WAIT_MS. Sets *opener and *parser to their pids, and *socket
 * to the recorder's end of the opener's socket. The caller must close the socket and reap both processes. Forks
 * pjrecord-start again if it does not run. Returns false if the two processes could not be started; then no process or
 * socket remains. */
bool cfistarter_begin(struct cfistarter *cfistarter, int *socket, pid_t *opener, pid_t *parser);

/* Starts the helper process for interpreters within twice CFISTARTER_WAIT_MS: with `socket`, its end of a socket, and
 * `memory`, a descriptor of the memory that it shares with the recorder. The caller closes both, and reaps the process.
 * Forks pjrecord-start again if it has ended. Returns the pid; 0 if the process could not be started. */
pid_t cfistarter_begin_interphelper(struct cfistarter *cfistarter, int socket, int memory);

/* Kills and reaps pjrecord-start. Openers and parsers that it started continue. */
void cfistarter_close(struct cfistarter *cfistarter);

#endif
