/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/perfdata/cgroupnames.h"

#include "common/arena.h"

#include <stdlib.h>

static struct str cgroupnames_key_of(const uint64_t *number)
{
	return (struct str){ (const char *)number, sizeof(*number) };
}

void cgroupnames_add(struct cgroupnames *cgroups, uint64_t number, struct str path)
{
	uint32_t id = intern(&cgroups->ids, cgroupnames_key_of(&number));

	if (id >= cgroups->cap) {
		size_t cap = 2 * (size_t)id + 64;

		cgroups->path = mem_grow(cgroups->path, sizeof(*cgroups->path), cap);
		memset(cgroups->path + cgroups->cap, 0, (cap - cgroups->cap) * sizeof(*cgroups->path));
		cgroups->cap = cap;
	}
	cgroups->path[id] = intern_str(&cgroups->paths, intern(&cgroups->paths, path));
}

struct str cgroupnames_path(const struct cgroupnames *cgroups, uint64_t number)
{
	uint32_t id = intern_find(&cgroups->ids, cgroupnames_key_of(&number));

	return id ? cgroups->path[id] : (struct str){ 0 };
}

void cgroupnames_free(struct cgroupnames *cgroups)
{
	intern_free(&cgroups->ids);
	intern_free(&cgroups->paths);
	free(cgroups->path);
	*cgroups = (struct cgroupnames){ 0 };
}
