/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfmaps.h - which perf-PID.map files pjmap -i has written, so that those of one tenant cannot fill /tmp.
 *
 * Maps of processes that ended stay for users of perf, until their tenant needs the room: then the oldest are emptied.
 */
#ifndef PJ_PERFMAPS_H
#define PJ_PERFMAPS_H

#include "jmap/perfmap/publisher.h"
#include "common/process/tenants.h"

#define PERFMAPS_EACH_MAX ((uint64_t)64 << 20) /* bytes of a tenant: 600,000 methods */
#define PERFMAPS_TOTAL_MAX ((uint64_t)512 << 20)
#define PERFMAPS_ONE_MAX ((size_t)16 << 20) /* bytes of one map */

struct perfmaps {
	const char *dir;
	struct publisher *publisher;
	struct tenants *tenants; /* with limits of TENANT_KEPT_BYTES */
	struct perfmap {
		pid_t pid;
		struct tenant tenant;
		uint64_t bytes;
		ino_t inode;
		struct taskid_user owner;
		bool ended;
	} * one; /* the oldest first */
	size_t n, cap;
};

/* A map of so many bytes will be written. False: there is no room for it, and the one that was written before is
 * emptied. */
bool perfmaps_reserve(struct perfmaps *perfmaps, pid_t pid, struct tenant tenant, uint64_t bytes);

/* It was written. */
void perfmaps_written(struct perfmaps *perfmaps, pid_t pid, const struct taskid_user *owner);

/* The process ended; its map stays. */
void perfmaps_ended(struct perfmaps *perfmaps, pid_t pid);

void perfmaps_free(struct perfmaps *perfmaps);

#endif
