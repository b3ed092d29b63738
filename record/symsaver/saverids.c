/* SPDX-License-Identifier: Apache-2.0 */
#include "record/symsaver/saverids.h"

#include "common/arena.h"
#include "common/hash.h"

#include <stdlib.h>

#define MASK (SAVERIDS_RING - 1)
#define FIRST_CAP 64u

bool saverids_put(struct saverids_ring *ring, const struct pj_build_id *id)
{
	uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);

	if (head - atomic_load_explicit(&ring->tail, memory_order_acquire) >= SAVERIDS_RING)
		return false;
	ring->entry[head & MASK] = *id;
	atomic_store_explicit(&ring->head, head + 1, memory_order_release);
	return true;
}

static uint32_t saverids_place_of(const struct saverids_table *table, const struct pj_build_id *id)
{
	uint64_t numbers[3] = { (uint64_t)id->file_id.major << 32 | id->file_id.minor, id->file_id.inode,
				id->file_id.generation };

	return (uint32_t)hash_bytes(numbers, sizeof(numbers)) & (table->cap - 1);
}

static bool saverids_same_file(const struct pj_build_id *a, const struct pj_build_id *b)
{
	return file_id_equal(&a->file_id, &b->file_id);
}

/* Returns the slot of the file with the file_id of *id. If the table lacks the file, returns the free slot for it. */
static struct pj_build_id *saverids_slot_of(const struct saverids_table *table, const struct pj_build_id *id)
{
	uint32_t i = saverids_place_of(table, id);

	while (table->slot[i].build_id.n && !saverids_same_file(&table->slot[i], id))
		i = (i + 1) & (table->cap - 1);
	return &table->slot[i];
}

static void saverids_grow(struct saverids_table *table)
{
	struct saverids_table larger = { .cap = table->cap ? 2 * table->cap : FIRST_CAP, .n = table->n };

	larger.slot = mem_alloc(larger.cap, sizeof(*larger.slot));
	for (uint32_t i = 0; i < table->cap; i++)
		if (table->slot[i].build_id.n)
			*saverids_slot_of(&larger, &table->slot[i]) = table->slot[i];
	free(table->slot);
	*table = larger;
}

static void saverids_add(struct saverids_table *table, const struct pj_build_id *id)
{
	struct pj_build_id *slot;

	if (table->n >= SAVERIDS_MOST || id->build_id.n < 2 || id->build_id.n > sizeof(id->build_id.byte) ||
	    id->file_id.inode == 0)
		return;
	if (2 * table->n >= table->cap)
		saverids_grow(table);
	slot = saverids_slot_of(table, id);
	table->n += slot->build_id.n == 0;
	*slot = *id;
}

void saverids_take(struct saverids *saverids, struct saverids_ring *ring)
{
	uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed),
		 head = atomic_load_explicit(&ring->head, memory_order_acquire);

	/* A head out of range is an error of the symbol saver: drops the content of the ring. */
	if (head - tail > SAVERIDS_RING)
		tail = head;
	for (; tail != head; tail++) {
		struct pj_build_id id = ring->entry[tail & MASK];

		saverids_add(&saverids->now, &id);
	}
	atomic_store_explicit(&ring->tail, tail, memory_order_release);
}

const struct pj_build_id *saverids_find(const struct saverids *saverids, const struct file_id *file_id)
{
	const struct pj_build_id wanted = { .file_id = *file_id };
	const struct saverids_table *table[] = { &saverids->now, &saverids->before };

	for (size_t i = 0; i < countof(table); i++) {
		const struct pj_build_id *slot = table[i]->n ? saverids_slot_of(table[i], &wanted) : NULL;

		if (slot && slot->build_id.n)
			return slot;
	}
	return NULL;
}

void saverids_window(struct saverids *saverids)
{
	free(saverids->before.slot);
	saverids->before = saverids->now;
	saverids->now = (struct saverids_table){ 0 };
}

void saverids_free(struct saverids *saverids)
{
	free(saverids->now.slot);
	free(saverids->before.slot);
	*saverids = (struct saverids){ 0 };
}
