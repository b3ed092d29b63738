/* SPDX-License-Identifier: Apache-2.0 */
/*
 * publisher.h - starts and calls the publisher: a process of pjmap that writes perf-PID.map files for the users of the
 * JVMs.
 *
 * Changing the owner of a file needs CAP_CHOWN; creating a file in another user's directory needs CAP_DAC_OVERRIDE, and
 * replacing one in /tmp CAP_FOWNER. pjmap parses memory of untrusted processes and has none of these. The publisher has
 * only these three, and parses nothing. It receives a PID, a user and a file in memory with the map, which a helper of
 * pjmap made (readhelper.h, mapparser.h), and writes perf-PID.map in the one directory for which it was started.
 */
#ifndef PJ_PUBLISHER_H
#define PJ_PUBLISHER_H

#include "common/str.h"
#include "common/process/taskid.h"

struct publisher;

/* Forks the publisher, which writes to directory `dir`. To be called while pjmap still has the three capabilities of
 * the publisher. Exits with a message on failure. The publisher ends at publisher_end, or when pjmap ends. */
struct publisher *publisher_start(const char *dir);
/* Ends the publisher and waits for its exit; NULL is allowed. */
void publisher_end(struct publisher *publisher);

/* Makes the publisher write the first n bytes of descriptor `from` as perf-PID.map of process `pid` (mapfile_put).
 * Returns NULL on success, or the step that failed, for a message, and errno. */
const char *publisher_put(struct publisher *publisher, pid_t pid, int from, uint64_t n, const struct taskid_user *owner,
			  bool durable);

#endif
