/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interpstarter.h - how the recorder starts the helper process for interpreters (interphelper.h): a function of the
 * caller of interpreters_new.
 *
 * The helper starts at the first sample of an interpreter. By then the recorder's memory holds stacks and names of all
 * tenants, so the function forks another process, whose memory is small (record/unwind/cfistarter.h).
 */
#ifndef PJ_INTERPSTARTER_H
#define PJ_INTERPSTARTER_H

#include <sys/types.h>

struct interpstarter {
	/* Returns the pid of a new helper process, a child of the recorder; 0 on failure. socket: the helper's end of
	 * its socket. memory: descriptor of the memory that it shares with the recorder (struct interp_shared). The
	 * caller closes both. Any thread may call it. */
	pid_t (*start)(void *owner, int socket, int memory);
	void *owner;
};

#endif
