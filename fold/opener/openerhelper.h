/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openerhelper.h - processes of fileopener.h: pjfold-open, the helper that opens files, and pjfold-start, which forks
 * it.
 *
 * pjfold forks pjfold-start before it drops its rights. pjfold-start keeps one socket and the capabilities of helpers.
 * It forks a new pjfold-open each time that pjfold abandons the last pjfold-open, which may wait for a file system for
 * ever. Both parse nothing and accept any bytes as a request: pjfold parses hostile files and may have been taken over.
 * A helper returns only descriptors of regular files outside of /proc, or of copies in memory.
 */
#ifndef PJ_OPENERHELPER_H
#define PJ_OPENERHELPER_H

#include "common/base.h"
#include "common/formats/fileid.h"

#include <stdbool.h>
#include <stdint.h>

enum { OPENER_PATH_MAX = 4096 }; /* maximum length of a path in bytes; files with a longer path are not opened */

/* Kinds of requests, named after the functions of fileopener.h: fileopener_path (OPENER_BY_PATH), fileopener_plain,
 * fileopener_inside, fileopener_map_inside. OPENER_STAT requests a copy of /proc/PID/stat, OPENER_WHERE the mount
 * namespace of a process. */
enum opener_kind { OPENER_BY_PATH, OPENER_PLAIN, OPENER_INSIDE, OPENER_MAP_INSIDE, OPENER_STAT, OPENER_WHERE };

struct opener_request {
	uint32_t kind;     /* enum opener_kind */
	int32_t pid;       /* process below whose root the path is, or that OPENER_STAT and OPENER_WHERE are about */
	uint64_t until;    /* argument `until` of fileopener_mapped(); 0: unknown */
	struct file_id id; /* required file; inode 0: any file that is unchanged since `until` */
	uint32_t n;        /* length of the path in bytes */
	char path[OPENER_PATH_MAX + 1];
};

enum { OPENER_PROGRESS = -1 };

struct opener_reply {
	/* 0: success, with a descriptor; OPENER_PROGRESS: the helper is copying the file; otherwise an errno */
	int32_t error;
	/* reply to OPENER_WHERE: inode of the mount namespace, 0: pjfold's own or unknown; reply of pjfold-start: PID
	 * of the new helper */
	uint64_t mount_ns;
};

/* Opens the file of a request in the calling process. Returns a read-only descriptor, or -1 and errno. */
int openerhelper_open(const struct opener_request *request);

/* Replies to each request on a socket with a descriptor or an error, until the other end of the socket is closed. */
void openerhelper_run(int socket);

/* Turns a forked child into pjfold-start. pjfold-start keeps only the socket and the capabilities of helpers, and
 * replies to each byte with the socket of a new helper. unprivileged: true: pjfold-start keeps no capabilities. */
NORETURN void openerhelper_become_starter(int socket, bool unprivileged);

#endif
