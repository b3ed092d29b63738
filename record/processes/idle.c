/* SPDX-License-Identifier: Apache-2.0 */
#include "record/processes/idle.h"

#include "record/perf/chunk.h"
#include "record/processes/procfs.h"

#include <stdlib.h>

void idle_begin(struct idle *i)
{
	free(i->ns);
	i->ns = procfs_idle(&i->n);
}

void idle_put(const struct idle *i, struct text *text)
{
	size_t n;
	uint64_t *now = procfs_idle(&n);

	for (size_t cpu = 0; cpu < n && cpu < i->n; cpu++) {
		struct pj_idle item = { .cpu = (uint32_t)cpu, .ns = now[cpu] - i->ns[cpu] };

		if (now[cpu] >= i->ns[cpu])
			chunk_put_item(text, PJ_ITEM_IDLE, &item, sizeof(item));
	}
	free(now);
}

void idle_free(struct idle *i)
{
	free(i->ns);
	*i = (struct idle){ 0 };
}
