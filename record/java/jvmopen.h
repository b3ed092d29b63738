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

/* Descriptors of one program for the helper, which its user may read. */
struct jvmopen {
	int process;    /* /proc/PID */
	uint64_t start; /* clock ticks since boot; 0: not compared */
	int fd[JVM_FDS];
	struct taskid id;
	struct taskid_user user;
	uint64_t mount_ns; /* 0: the process has ended, or without permission */
	struct hotspot_reason why;
};

/* Opens the files of a process, given by its /proc/PID, if it started at `start` (0: not compared). Returns NULL and
 * *why on failure. */
struct jvmopen *jvmopen_files(int process, uint64_t start, struct hotspot_reason *why);
void jvmopen_free(struct jvmopen *jvmopen);

#endif
