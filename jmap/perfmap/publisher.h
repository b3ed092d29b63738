/* SPDX-License-Identifier: Apache-2.0 */
/*
 * publisher.h - a process of pjmap that gives perf-PID.map files to the users of their JVMs.
 *
 * To give a file away needs CAP_CHOWN, and to put one into a folder of another user CAP_DAC_OVERRIDE. pjmap parses
 * memory of untrusted processes and has neither: the publisher, which parses nothing, has them, and nothing else. It
 * takes a PID, a user and a file in memory, which the helper of that JVM filled (readhelper.h), and writes to
 * perf-PID.map in the one folder that it was started for.
 */
#ifndef PJ_PUBLISHER_H
#define PJ_PUBLISHER_H

#include "common/str.h"
#include "common/process/taskid.h"

struct publisher;

/* Forks. To be called while capabilities are there. It ends when publisher_end is called, or pjmap ends. */
struct publisher *publisher_start(const char *dir);
void publisher_end(struct publisher *publisher);

/* Writes the first n bytes of `from` as the map of a process, as mapfile_put does. Returns NULL, or what failed
 * (errno). */
const char *publisher_put(struct publisher *publisher, pid_t pid, int from, uint64_t n, const struct taskid_user *owner,
			  bool durable);

#endif
