/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfmaps.h - limits the size of the perf-PID.map files that pjmap -i writes, so that one tenant cannot fill /tmp.
 *
 * Maps of ended processes remain for users of perf until their tenant reaches its limit. Then the oldest ones are
 * emptied. If all tenants together reach a limit, the oldest maps of tenants without a living process are emptied, such
 * as those of containers that ended.
 *
 *	if (perfmaps_reserve(&maps, pid, tenant, bytes)) {
 *		publisher_put(...);
 *		perfmaps_written(&maps, pid, &owner);
 *	}
 */
#ifndef PJ_PERFMAPS_H
#define PJ_PERFMAPS_H

#include "jmap/perfmap/publisher.h"
#include "common/process/tenants.h"

/* limit for the maps of one tenant in bytes, about 600,000 methods; above it, maps of the tenant's ended processes are
 * emptied */
#define PERFMAPS_EACH_MAX ((uint64_t)64 << 20)
/* limit for the maps of all tenants in bytes; above it, maps of ended processes of the tenant that needs bytes are
 * emptied, then those of tenants of which no process lives */
#define PERFMAPS_TOTAL_MAX ((uint64_t)512 << 20)
/* maximum size of one map in bytes; a larger map is not written */
#define PERFMAPS_ONE_MAX ((size_t)16 << 20)
/* maximum number of maps in the list; above it, the oldest map of an ended process is emptied */
#define PERFMAPS_N_MAX 4096

/* List of the maps that pjmap has written. The caller sets and owns dir, publisher and tenants; all other members are 0
 * at first. */
struct perfmaps {
	/* directory of the perf-PID.map files */
	const char *dir;
	/* process that writes the files */
	struct publisher *publisher;
	/* table of tenants; TENANT_SAVED_BYTES counts the bytes of their maps */
	struct tenants *tenants;
	/* written maps, oldest first */
	struct perfmap {
		pid_t pid;
		struct tenant tenant;
		/* size of the map in bytes */
		uint64_t bytes;
		/* inode of the file; 0 if it was not written. A file with another inode belongs to a later process with
		 * the same pid, so pjmap does not empty it. */
		ino_t inode;
		/* user of the process, who owns the file */
		struct taskid_user owner;
		/* true if the process has ended */
		bool ended;
	} * one;
	size_t n, cap;
};

/* Reserves bytes for the next map of a process, in place of those for its last map. To be called before the map is
 * written. If a limit is reached, empties the oldest maps of the tenant's ended processes; if the limit of all tenants
 * is reached, then also those of tenants of which no process lives. Returns true if the bytes are reserved. If the
 * limit is reached nevertheless, empties the last map of this process, too, and returns false. */
bool perfmaps_reserve(struct perfmaps *perfmaps, pid_t pid, struct tenant tenant, uint64_t bytes);

/* Records that the map of a process was written as a file of `owner`. */
void perfmaps_written(struct perfmaps *perfmaps, pid_t pid, const struct taskid_user *owner);

/* Records that a process has ended. Its map remains until bytes are needed for another map of its tenant. */
void perfmaps_ended(struct perfmaps *perfmaps, pid_t pid);

/* Frees the list; the files remain. */
void perfmaps_free(struct perfmaps *perfmaps);

#endif
