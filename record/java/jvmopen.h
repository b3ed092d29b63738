/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvmopen.h - opens the memory of a JVM for the helper process, within a time limit.
 *
 * A process can block every process that opens its files in /proc (timelimit.h). The recorder's main thread calls this
 * module, so a wait ends after JVMOPEN_MS, and no process of that tenant is opened for twenty times as long.
 */
#ifndef PJ_JVMOPEN_H
#define PJ_JVMOPEN_H

#include "runtimes/hotspot/hotspot.h"
#include "record/java/jvmhelper.h"
#include "common/process/taskid.h"

enum { JVMOPEN_MS = 20 };

/* Descriptors of one program that the helper may read, because the user of the process may read it,
 * or root may and is the only reader. */
struct jvmopen {
	int process;    /* descriptor of /proc/PID */
	uint64_t start; /* requested start time of the process in clock ticks since boot; 0: any */
	enum taskid_reader reader;
	int fd[JVM_FDS];
	struct taskid id;
	struct taskid_user user;
	/* inode of the process's mount namespace; 0: the process has ended, or the permission is missing */
	uint64_t mount_ns;
	struct hotspot_reason why;
};

/* Opens the files of a process for the helper. process is a descriptor of /proc/PID; the process must have started at
 * `start` (clock ticks since boot; 0: any). reader: taskid_open_memory_for. Returns NULL and *why on failure. */
struct jvmopen *jvmopen_files(int process, uint64_t start, enum taskid_reader reader, struct hotspot_reason *why);
void jvmopen_free(struct jvmopen *jvmopen);

#endif
