/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvmopen.h - opens the memory and mappings of a JVM for the helper process, within a time limit.
 *
 * A process can block every other process that opens its files in /proc (timelimit.h), and the recorder's main thread
 * calls this module. So the module waits at most JVMOPEN_MS ms; after such a wait, it opens no process of the same
 * tenant for twenty times as long.
 */
#ifndef PJ_JVMOPEN_H
#define PJ_JVMOPEN_H

#include "runtimes/hotspot/hotspot.h"
#include "record/java/jvmhelper.h"
#include "common/process/taskid.h"

enum { JVMOPEN_MS = 20 };

/* Open files of one process for the helper. They are opened only if the user of the process may read its memory, or if
 * root may and only root reads the recording (taskid_open_memory_for). */
struct jvmopen {
	int process;    /* descriptor of /proc/PID */
	uint64_t start; /* required start time of the process in clock ticks since boot; 0: any */
	enum taskid_reader reader;
	int fd[JVM_FDS];
	struct taskid id;
	struct taskid_user user;
	/* inode of the process's mount namespace; 0 if the process has ended, or if the permission is missing */
	uint64_t mount_ns;
	struct hotspot_reason why;
};

/* Opens the files of a process for the helper. process: descriptor of /proc/PID, which the caller closes. start:
 * required start time of the process in clock ticks since boot; 0: any. reader: as in taskid_open_memory_for. On
 * failure returns NULL and sets *why. */
struct jvmopen *jvmopen_files(int process, uint64_t start, enum taskid_reader reader, struct hotspot_reason *why);
void jvmopen_free(struct jvmopen *jvmopen);

#endif
