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

static bool drop_oldest(struct perfmaps *perfmaps, struct tenant tenant)
{
	for (size_t i = 0; i < perfmaps->n; i++)
		if (perfmaps->one[i].ended && tenant_same(perfmaps->one[i].tenant, tenant)) {
			perfmaps_drop(perfmaps, i);
			return true;
		}
	return false;
}

bool perfmaps_reserve(struct perfmaps *perfmaps, pid_t pid, struct tenant tenant, uint64_t bytes)
{
	struct perfmap *one = perfmaps_find(perfmaps, pid);

	if (!one) {
		if (perfmaps->n == perfmaps->cap) {
			perfmaps->cap = perfmaps->cap ? perfmaps->cap * 2 : 16;
			perfmaps->one = mem_grow(perfmaps->one, sizeof(*perfmaps->one), perfmaps->cap);
		}
		one = &perfmaps->one[perfmaps->n++];
		*one = (struct perfmap){ .pid = pid, .tenant = tenant };
	}
	tenants_release(perfmaps->tenants, tenant, TENANT_SAVED_BYTES, one->bytes);
	one->bytes = 0;
	while (!tenants_hold(perfmaps->tenants, tenant, TENANT_SAVED_BYTES, bytes))
		if (!drop_oldest(perfmaps, tenant)) {
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
