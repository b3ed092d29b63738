/* SPDX-License-Identifier: Apache-2.0 */
#include "jvmbuilds.h"

#include "arena.h"

#include <stdlib.h>

enum { BUILDS = 16, PAGE = 4096 };

struct build {
	char *page; /* NULL: none */
	uid_t uid;
	uint64_t base;
	struct vmlayout layout;
	struct frames_layout frames;
};

struct jvmbuilds {
	struct build build[BUILDS];
	unsigned next;
};

bool jvmbuilds_take(struct jvmbuilds *b, uid_t uid, uint64_t base, struct hotspot *h, struct frames *f)
{
	char page[PAGE];

	if (!memory_read(&h->memory, base, page, PAGE))
		return false;
	for (unsigned i = 0; i < BUILDS; i++) {
		const struct build *known = &b->build[i];

		if (!known->page || known->uid != uid || memcmp(known->page, page, PAGE) != 0)
			continue;
		h->memory.probe = base;
		h->layout = known->layout;
		vmlayout_move(&h->layout, base - known->base);
		*f = (struct frames){ .layout = known->frames };
		frames_move(&f->layout, base - known->base);
		return true;
	}
	return false;
}

void jvmbuilds_keep(struct jvmbuilds *b, uid_t uid, uint64_t base, struct hotspot *h, const struct frames *f)
{
	struct build *to = &b->build[b->next];
	char page[PAGE];

	if (!memory_read(&h->memory, base, page, PAGE))
		return;
	b->next = (b->next + 1) % BUILDS;
	if (!to->page)
		to->page = mem_grow(NULL, 1, PAGE);
	memcpy(to->page, page, PAGE);
	to->uid = uid;
	to->base = base;
	to->layout = h->layout;
	to->frames = f->layout;
}

struct jvmbuilds *jvmbuilds_new(void)
{
	return mem_alloc(sizeof(struct jvmbuilds), 1);
}

void jvmbuilds_free(struct jvmbuilds *b)
{
	for (unsigned i = 0; b && i < BUILDS; i++)
		free(b->build[i].page);
	free(b);
}
