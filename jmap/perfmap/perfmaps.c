/* SPDX-License-Identifier: Apache-2.0 */
#include "jmap/perfmap/perfmaps.h"

#include "common/arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static struct perfmap *perfmaps_find(const struct perfmaps *perfmaps, pid_t pid)
{
	for (size_t i = 0; i < perfmaps->n; i++)
		if (perfmaps->one[i].pid == pid && !perfmaps->one[i].ended)
			return &perfmaps->one[i];
	return NULL;
}

/* Returns the inode of the perf-PID.map of process `pid`; 0 if there is no such file. */
static ino_t perfmaps_inode_of(const struct perfmaps *perfmaps, pid_t pid)
{
	char path[4200];
	struct stat status;

	snprintf(path, sizeof(path), "%s/perf-%d.map", perfmaps->dir, (int)pid);
	return lstat(path, &status) == 0 ? status.st_ino : 0;
}

/* Removes map i from the list and releases its bytes. Empties its file, unless another file has replaced it: another
 * process may have the pid by now. */
static void perfmaps_drop(struct perfmaps *perfmaps, size_t i)
{
	const struct perfmap *one = &perfmaps->one[i];

	if (one->inode && perfmaps_inode_of(perfmaps, one->pid) == one->inode)
		publisher_put(perfmaps->publisher, one->pid, STDIN_FILENO, 0, &one->owner, false);
	tenants_release(perfmaps->tenants, perfmaps->one[i].tenant, TENANT_SAVED_BYTES, perfmaps->one[i].bytes);
	perfmaps->n--;
	for (; i < perfmaps->n; i++)
		perfmaps->one[i] = perfmaps->one[i + 1];
}

static bool same_tenant(const struct perfmaps *perfmaps, size_t i, struct tenant tenant)
{
	return tenant_same(perfmaps->one[i].tenant, tenant);
}

/* Returns true if no process lives of the tenant of map i. `tenant` is the one that needs bytes, so it lives. */
static bool is_abandoned(const struct perfmaps *perfmaps, size_t i, struct tenant tenant)
{
	const struct tenant owner = perfmaps->one[i].tenant;

	if (tenant_same(owner, tenant))
		return false;
	for (size_t other = 0; other < perfmaps->n; other++)
		if (!perfmaps->one[other].ended && tenant_same(perfmaps->one[other].tenant, owner))
			return false;
	return true;
}

/* Drops the oldest map of an ended process that `matches`; NULL: each does. Returns false if there is none. */
static bool drop_oldest(struct perfmaps *perfmaps, struct tenant tenant,
			bool (*matches)(const struct perfmaps *perfmaps, size_t i, struct tenant tenant))
{
	for (size_t i = 0; i < perfmaps->n; i++)
		if (perfmaps->one[i].ended && (!matches || matches(perfmaps, i, tenant))) {
			perfmaps_drop(perfmaps, i);
			return true;
		}
	return false;
}

/* Drops one map, so that the tenant can have `bytes`. Returns false if no map may be dropped for it. */
static bool drop_for(struct perfmaps *perfmaps, struct tenant tenant, uint64_t bytes)
{
	return drop_oldest(perfmaps, tenant, same_tenant) ||
	       (tenants_has_room(perfmaps->tenants, tenant, TENANT_SAVED_BYTES, bytes) &&
		drop_oldest(perfmaps, tenant, is_abandoned));
}

/* Adds a map to the list. Returns NULL if the list is full of maps of living processes. */
static struct perfmap *perfmaps_add(struct perfmaps *perfmaps, pid_t pid, struct tenant tenant)
{
	struct perfmap *one;

	if (perfmaps->n >= PERFMAPS_N_MAX && !drop_oldest(perfmaps, tenant, same_tenant) &&
	    !drop_oldest(perfmaps, tenant, NULL))
		return NULL;
	if (perfmaps->n == perfmaps->cap) {
		perfmaps->cap = perfmaps->cap ? perfmaps->cap * 2 : 16;
		perfmaps->one = mem_grow(perfmaps->one, sizeof(*perfmaps->one), perfmaps->cap);
	}
	one = &perfmaps->one[perfmaps->n++];
	*one = (struct perfmap){ .pid = pid, .tenant = tenant };
	return one;
}

bool perfmaps_reserve(struct perfmaps *perfmaps, pid_t pid, struct tenant tenant, uint64_t bytes)
{
	struct perfmap *one = perfmaps_find(perfmaps, pid);

	if (!one)
		one = perfmaps_add(perfmaps, pid, tenant);
	if (!one)
		return false;
	tenants_release(perfmaps->tenants, tenant, TENANT_SAVED_BYTES, one->bytes);
	one->bytes = 0;
	while (!tenants_hold(perfmaps->tenants, tenant, TENANT_SAVED_BYTES, bytes))
		if (!drop_for(perfmaps, tenant, bytes)) {
			perfmaps_drop(perfmaps, (size_t)(perfmaps_find(perfmaps, pid) - perfmaps->one));
			return false;
		}
	perfmaps_find(perfmaps, pid)->bytes = bytes;
	return true;
}

void perfmaps_written(struct perfmaps *perfmaps, pid_t pid, const struct taskid_user *owner)
{
	struct perfmap *one = perfmaps_find(perfmaps, pid);

	if (!one)
		return;
	one->inode = perfmaps_inode_of(perfmaps, pid);
	one->owner = *owner;
}

void perfmaps_ended(struct perfmaps *perfmaps, pid_t pid)
{
	struct perfmap *one = perfmaps_find(perfmaps, pid);

	if (one)
		one->ended = true;
}

void perfmaps_free(struct perfmaps *perfmaps)
{
	free(perfmaps->one);
	*perfmaps = (struct perfmaps){ 0 };
}
