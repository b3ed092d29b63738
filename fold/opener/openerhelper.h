/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openerhelper.h - the processes behind fileopener.h: one that opens files with capabilities, and one that forks it.
 *
 * pjfold-start is forked before pjfold drops its rights. It keeps one socket and the capabilities of helpers, and forks
 * pjfold-open: a new one each time that pjfold abandons the one before, which may wait for a file system for ever. Both
 * parse nothing, and take any bytes as a request: pjfold parses files of strangers and may have been taken over. A
 * descriptor that a helper returns is one of a regular file outside of /proc, or a copy in memory.
 */
#ifndef PJ_OPENERHELPER_H
#define PJ_OPENERHELPER_H

#include "common/base.h"
#include "common/formats/fileid.h"

#include <stdbool.h>
#include <stdint.h>

enum { OPENER_PATH_MAX = 4096 }; /* bytes of a path */

/* Kinds of requests, as the functions of fileopener.h. STAT is a copy of /proc/PID/stat, WHERE the mount namespace of a
 * process. */
enum opener_kind { OPENER_BY_PATH, OPENER_PLAIN, OPENER_INSIDE, OPENER_MAP_INSIDE, OPENER_STAT, OPENER_WHERE };

struct opener_request {
	uint32_t kind;
	int32_t pid;
	uint64_t until;    /* time of fileopener_mapped */
	struct file_id id; /* file that the path must have; inode 0: any, if it is unchanged since `until` */
	uint32_t n;
	char path[OPENER_PATH_MAX + 1];
};

enum { OPENER_PROGRESS = -1 };

struct opener_reply {
	int32_t error; /* errno of the failure; 0: success, with a descriptor; OPENER_PROGRESS: the helper still copies
			*/
	uint64_t mount_ns; /* for OPENER_WHERE: inode of the mount namespace; 0: that of the helper, or unknown. From
			    * the starter: PID of the new helper */
};

/* Opens the file of a request in the calling process. Returns a read-only descriptor, or -1 and errno. */
int openerhelper_open(const struct opener_request *request);

/* Replies to requests on a socket until its other end is closed: each reply has a descriptor, or an error. */
void openerhelper_run(int socket);

/* Turns the forked child into the process that forks helpers: keeps the socket and the capabilities of helpers, and
 * nothing else. Replies to each byte with the socket of a new helper. unprivileged: keeps no capabilities. */
NORETURN void openerhelper_become_starter(int socket, bool unprivileged);

#endif
