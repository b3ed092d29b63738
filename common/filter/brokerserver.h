/* SPDX-License-Identifier: Apache-2.0 */
/*
 * brokerserver.h - executes the requests of a filter for files (broker.h): in the process of the broker, or in the
 * filter itself if it has no broker.
 *
 * An attacker who controls the filter can send any request. So the server does not rely on the filter: it opens only
 * regular files and directories, no file of procfs that shows memory, and writes only to outputs, the cache and files
 * without a name.
 */
#ifndef PJ_BROKERSERVER_H
#define PJ_BROKERSERVER_H

#include "common/filter/broker.h"

enum { BROKER_PATH_MAX = 4096 }; /* maximum length of a path in bytes */

enum broker_operation {
	BROKER_OPEN,
	BROKER_INPUT,
	BROKER_NAMES,
	BROKER_PATH,
	BROKER_SPOOL,
	BROKER_MEMORY,
	BROKER_OUTPUT,
	BROKER_COMMIT,
	BROKER_DISCARD,
	BROKER_CACHE_OPEN,
	BROKER_CACHE_CREATE,
	BROKER_CACHE_COMMIT
};

struct broker_request {
	uint32_t operation, flags;
	char path[BROKER_PATH_MAX + 1]; /* path, ended by a NUL; the bytes after the NUL are not sent */
};

struct broker_reply {
	int32_t error; /* errno of the failed request; 0 on success */
	bool temporary;
	/* Reason why the output cannot be written. In the reply to BROKER_PATH, why.text is the requested path. Bytes
	 * after the NUL of why.text are not sent. */
	struct outfile_failure why;
};

/* Makes this process, a child of the filter, the broker: drops its rights, answers requests on the socket until the
 * filter ends, removes an incomplete output, and exits. */
NORETURN void brokerserver_run(const struct broker *broker, int socket);

/* Executes one request and fills *reply. Returns the descriptor of the result, or -1. `given` is the descriptor that
 * came with the request, or AT_FDCWD. */
int brokerserver_serve(const struct broker_request *request, int given, struct broker_reply *reply);

/* Sets the folder of the cache of this process, and takes ownership of its descriptor; -1: no cache. A later
 * brokerserver_run in a child inherits it. */
void brokerserver_cache(int folder);

/* Removes the incomplete output of this process; for a signal handler. */
void brokerserver_abandon(void);

#endif
