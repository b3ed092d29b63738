/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfmaps.h - limits the perf-PID.map files that pjmap -i writes, so that those of one tenant cannot fill /tmp.
 *
 * Maps of ended processes remain for users of perf until their tenant reaches its limit: then the oldest are emptied.
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

/* maximum bytes of the maps of one tenant: about 600,000 methods */
#define PERFMAPS_EACH_MAX ((uint64_t)64 << 20)
/* maximum bytes of the maps of all tenants */
#define PERFMAPS_TOTAL_MAX ((uint64_t)512 << 20)
/* maximum bytes of one map */
#define PERFMAPS_ONE_MAX ((size_t)16 << 20)

/* List of the maps that pjmap has written. The caller sets and owns dir, publisher and tenants; the other members are 0
 * at first. */
struct perfmaps {
	const char *dir;
	struct publisher *publisher;
	/* table of tenants, with limits for TENANT_SAVED_BYTES */
	struct tenants *tenants;
	/* one written map; the array is sorted by age, the oldest first */
	struct perfmap {
		pid_t pid;
		struct tenant tenant;
		uint64_t bytes;
		/* inode of the file, so that the file of a later process with this pid is not emptied */
		ino_t inode;
		struct taskid_user owner;
		bool ended;
	} * one;
	size_t n, cap;
};

/* Reserves bytes for the map of a process that is about to be written. Empties the oldest maps of ended
 * processes of the tenant if necessary. If that does not suffice, empties the earlier map of this process,
 * too, and returns false. */
bool perfmaps_reserve(struct perfmaps *perfmaps, pid_t pid, struct tenant tenant, uint64_t bytes);

/* Records that the map of a process was written, and its owner. */
void perfmaps_written(struct perfmaps *perfmaps, pid_t pid, const struct taskid_user *owner);

/* Records that a process has ended. Its map remains. */
void perfmaps_ended(struct perfmaps *perfmaps, pid_t pid);

/* Frees the list. The files remain. */
void perfmaps_free(struct perfmaps *perfmaps);

#endif
