/* SPDX-License-Identifier: Apache-2.0 */
#include "jmap/perfmap/perfmaps.h"

#include "common/arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static struct perfmap *perfmaps_find(const struct perfmaps *m, pid_t pid)
{
	for (size_t i = 0; i < m->n; i++)
		if (m->one[i].pid == pid && !m->one[i].ended)
			return &m->one[i];
	return NULL;
}

/* The number of the file that is there now; 0: none. */
static ino_t perfmaps_inode_of(const struct perfmaps *m, pid_t pid)
{
	char path[4200];
	struct stat st;

	snprintf(path, sizeof(path), "%s/perf-%d.map", m->dir, (int)pid);
	return lstat(path, &st) == 0 ? st.st_ino : 0;
}

/* Empties the file if it is still the one that was written: the number of the process may be another's by now. */
static void perfmaps_drop(struct perfmaps *m, size_t i)
{
	const struct perfmap *one = &m->one[i];

	if (one->inode && perfmaps_inode_of(m, one->pid) == one->inode)
		publisher_put(m->publisher, one->pid, STDIN_FILENO, 0, &one->owner, false);
	tenants_release(m->tenants, m->one[i].tenant, TENANT_SAVED_BYTES, m->one[i].bytes);
	m->n--;
	for (; i < m->n; i++)
		m->one[i] = m->one[i + 1];
}

static bool drop_oldest(struct perfmaps *m, struct tenant of)
{
	for (size_t i = 0; i < m->n; i++)
		if (m->one[i].ended && tenant_same(m->one[i].tenant, of)) {
			perfmaps_drop(m, i);
			return true;
		}
	return false;
}

bool perfmaps_reserve(struct perfmaps *m, pid_t pid, struct tenant of, uint64_t bytes)
{
	struct perfmap *one = perfmaps_find(m, pid);

	if (!one) {
		if (m->n == m->cap) {
			m->cap = m->cap ? m->cap * 2 : 16;
			m->one = mem_grow(m->one, sizeof(*m->one), m->cap);
		}
		one = &m->one[m->n++];
		*one = (struct perfmap){ .pid = pid, .tenant = of };
	}
	tenants_release(m->tenants, of, TENANT_SAVED_BYTES, one->bytes);
	one->bytes = 0;
	while (!tenants_hold(m->tenants, of, TENANT_SAVED_BYTES, bytes))
		if (!drop_oldest(m, of)) {
			perfmaps_drop(m, (size_t)(perfmaps_find(m, pid) - m->one));
			return false;
		}
	perfmaps_find(m, pid)->bytes = bytes;
	return true;
}

void perfmaps_written(struct perfmaps *m, pid_t pid, const struct taskid_user *owner)
{
	struct perfmap *one = perfmaps_find(m, pid);

	if (!one)
		return;
	one->inode = perfmaps_inode_of(m, pid);
	one->owner = *owner;
}

void perfmaps_ended(struct perfmaps *m, pid_t pid)
{
	struct perfmap *one = perfmaps_find(m, pid);

	if (one)
		one->ended = true;
}

void perfmaps_free(struct perfmaps *m)
{
	free(m->one);
	*m = (struct perfmaps){ 0 };
}
