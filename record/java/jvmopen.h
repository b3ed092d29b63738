/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvmopen.h - opens the memory of a JVM for the process that reads it; never waits for the JVM for long.
 *
 * A process can make everybody wait who opens its files in /proc (timelimit.h). The recorder's own thread asks here, so
 * a wait ends after JVMOPEN_MS, and the tenant of that process is left alone for twenty times as long.
 */
#ifndef PJ_JVMOPEN_H
#define PJ_JVMOPEN_H

#include "runtimes/hotspot/hotspot.h"
#include "record/java/jvmhelper.h"
#include "common/process/taskid.h"

enum { JVMOPEN_MS = 20 };

/* What the helper needs: descriptors of one program, which its user may look into. */
struct jvmopen {
	int process;    /* /proc/PID */
	uint64_t start; /* 0: any */
	int fd[JVM_FDS];
	struct taskid id;
	struct taskid_user user;
	uint64_t mount_ns; /* 0: it ended, or may not be read */
	struct hotspot_reason why;
};

/* Opens those of a process (its /proc/PID) that started then (0: any). Returns NULL, and why, if that fails. */
struct jvmopen *jvmopen_files(int process, uint64_t start, struct hotspot_reason *why);
void jvmopen_free(struct jvmopen *jvmopen);

#endif
