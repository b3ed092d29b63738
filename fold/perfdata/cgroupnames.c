/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/perfdata/cgroupnames.h"

#include "common/arena.h"

#include <stdlib.h>

static struct str cgroupnames_key_of(const uint64_t *number)
{
	return (struct str){ (const char *)number, sizeof(*number) };
}

void cgroupnames_add(struct cgroupnames *g, uint64_t number, struct str path)
{
	uint32_t id = intern(&g->ids, cgroupnames_key_of(&number));

	if (id >= g->cap) {
		size_t cap = 2 * (size_t)id + 64;

		g->path = mem_grow(g->path, sizeof(*g->path), cap);
		memset(g->path + g->cap, 0, (cap - g->cap) * sizeof(*g->path));
		g->cap = cap;
	}
	g->path[id] = intern_str(&g->paths, intern(&g->paths, path));
}

struct str cgroupnames_path(const struct cgroupnames *g, uint64_t number)
{
	uint32_t id = intern_find(&g->ids, cgroupnames_key_of(&number));

	return id ? g->path[id] : (struct str){ 0 };
}

void cgroupnames_free(struct cgroupnames *g)
{
	intern_free(&g->ids);
	intern_free(&g->paths);
	free(g->path);
	*g = (struct cgroupnames){ 0 };
}
