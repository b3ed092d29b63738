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

/* limit for a tenant in bytes: 600,000 methods */
#define PERFMAPS_EACH_MAX ((uint64_t)64 << 20)
/* limit for all tenants in bytes */
#define PERFMAPS_TOTAL_MAX ((uint64_t)512 << 20)
/* limit of one map in bytes */
#define PERFMAPS_ONE_MAX ((size_t)16 << 20)

/* The caller sets dir, publisher and tenants, which it owns; the rest is 0 at first. */
struct perfmaps {
	const char *dir;
	struct publisher *publisher;
	/* with limits of TENANT_SAVED_BYTES */
	struct tenants *tenants;
	/* a map that was written, of a process and tenant; sorted by age, the oldest first */
	struct perfmap {
		pid_t pid;
		struct tenant tenant;
		uint64_t bytes;
		/* inode of the file, so that a file of a later process with this pid is not emptied */
		ino_t inode;
		struct taskid_user owner;
		bool ended;
	} * one;
	size_t n, cap;
};

/* Reserves bytes for a map that is about to be written. Returns false if the tenant has too few even after its
 * oldest maps were emptied; then the map of this process is emptied, too. */
bool perfmaps_reserve(struct perfmaps *perfmaps, pid_t pid, struct tenant tenant, uint64_t bytes);

/* Records that the map was written, and its owner. */
void perfmaps_written(struct perfmaps *perfmaps, pid_t pid, const struct taskid_user *owner);

/* Records that the process ended; its map remains. */
void perfmaps_ended(struct perfmaps *perfmaps, pid_t pid);

/* Frees the list; the files remain. */
void perfmaps_free(struct perfmaps *perfmaps);

#endif
