/* SPDX-License-Identifier: Apache-2.0 */
/*
 * publisher.h - a process of pjmap that gives perf-PID.map files to the users of their JVMs.
 *
 * Changing the owner of a file needs CAP_CHOWN, and creating one in a folder of another user CAP_DAC_OVERRIDE. pjmap
 * parses memory of untrusted processes and has neither. The publisher has only these two, and parses nothing. It
 * receives a PID, a user and a file in memory, which the helper of that JVM filled (readhelper.h), and writes to
 * perf-PID.map in the one folder for which it was started.
 */
#ifndef PJ_PUBLISHER_H
#define PJ_PUBLISHER_H

#include "common/str.h"
#include "common/process/taskid.h"

struct publisher;

/* Forks the publisher, which writes to the folder dir. Call it while the capabilities are available. The publisher ends
 * at publisher_end, or when pjmap ends. */
struct publisher *publisher_start(const char *dir);
void publisher_end(struct publisher *publisher);

/* Writes the first n bytes of descriptor `from` as perf-PID.map of a process, in the way of mapfile_put. Returns NULL,
 * or the step that failed (errno). */
const char *publisher_put(struct publisher *publisher, pid_t pid, int from, uint64_t n, const struct taskid_user *owner,
			  bool durable);

#endif
