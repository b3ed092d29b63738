/* SPDX-License-Identifier: Apache-2.0 */
#include "record/symsaver/saverids.h"

#include "common/arena.h"
#include "common/hash.h"

#include <stdlib.h>

#define MASK (SAVERIDS_RING - 1)
#define FIRST_CAP 64u

bool saverids_put(struct saverids_ring *r, const struct pj_build_id *id)
{
	uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed);

	if (head - atomic_load_explicit(&r->tail, memory_order_acquire) >= SAVERIDS_RING)
		return false;
	r->entry[head & MASK] = *id;
	atomic_store_explicit(&r->head, head + 1, memory_order_release);
	return true;
}

static uint32_t saverids_place_of(const struct saverids_table *t, const struct pj_build_id *id)
{
	uint64_t numbers[3] = { (uint64_t)id->major << 32 | id->minor, id->inode, id->generation };

	return (uint32_t)hash_bytes(numbers, sizeof(numbers)) & (t->cap - 1);
}

static bool saverids_same_file(const struct pj_build_id *a, const struct pj_build_id *b)
{
	return a->inode == b->inode && a->generation == b->generation && a->major == b->major && a->minor == b->minor;
}

/* The slot of that file, or the free one where it would be. */
static struct pj_build_id *saverids_slot_of(const struct saverids_table *t, const struct pj_build_id *id)
{
	uint32_t i = saverids_place_of(t, id);

	while (t->slot[i].size && !saverids_same_file(&t->slot[i], id))
		i = (i + 1) & (t->cap - 1);
	return &t->slot[i];
}

static void saverids_grow(struct saverids_table *t)
{
	struct saverids_table larger = { .cap = t->cap ? 2 * t->cap : FIRST_CAP, .n = t->n };

	larger.slot = mem_alloc(larger.cap, sizeof(*larger.slot));
	for (uint32_t i = 0; i < t->cap; i++)
		if (t->slot[i].size)
			*saverids_slot_of(&larger, &t->slot[i]) = t->slot[i];
	free(t->slot);
	*t = larger;
}

static void saverids_add(struct saverids_table *t, const struct pj_build_id *id)
{
	struct pj_build_id *slot;

	if (t->n >= SAVERIDS_MOST || id->size < 2 || id->size > sizeof(id->id) || id->inode == 0)
		return;
	if (2 * t->n >= t->cap)
		saverids_grow(t);
	slot = saverids_slot_of(t, id);
	t->n += slot->size == 0;
	*slot = *id;
}

void saverids_take(struct saverids *k, struct saverids_ring *r)
{
	uint64_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed),
		 head = atomic_load_explicit(&r->head, memory_order_acquire);

	/* a head that is not possible is not that of a keeper that works */
	if (head - tail > SAVERIDS_RING)
		tail = head;
	for (; tail != head; tail++) {
		struct pj_build_id id = r->entry[tail & MASK];

		saverids_add(&k->now, &id);
	}
	atomic_store_explicit(&r->tail, tail, memory_order_release);
}

const struct pj_build_id *saverids_find(const struct saverids *k, uint32_t major, uint32_t minor, uint64_t inode,
					uint64_t generation)
{
	const struct pj_build_id wanted = { .major = major, .minor = minor, .inode = inode, .generation = generation };
	const struct saverids_table *table[] = { &k->now, &k->before };

	for (size_t i = 0; i < countof(table); i++) {
		const struct pj_build_id *slot = table[i]->n ? saverids_slot_of(table[i], &wanted) : NULL;

		if (slot && slot->size)
			return slot;
	}
	return NULL;
}

void saverids_window(struct saverids *k)
{
	free(k->before.slot);
	k->before = k->now;
	k->now = (struct saverids_table){ 0 };
}

void saverids_free(struct saverids *k)
{
	free(k->now.slot);
	free(k->before.slot);
	*k = (struct saverids){ 0 };
}
