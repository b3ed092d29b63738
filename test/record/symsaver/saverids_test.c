/* keepids_test - build-ids from the keeper: a ring that fills, a keeper that lies, and for how long they are known. */
/* covers: record/symsaver/saverids.c */
#include "record/symsaver/saverids.h"

#include "common/arena.h"
#include "test/lib/tap.h"

#include <stdlib.h>

static struct pj_build_id build(uint64_t inode, uint8_t size, uint8_t byte)
{
	struct pj_build_id id = { .file_id = { 8, 1, inode, 3 }, .build_id.n = size };

	memset(id.build_id.byte, byte, sizeof(id.build_id.byte));
	return id;
}

static bool knows(const struct saverids *saverids, uint64_t inode, uint8_t byte)
{
	const struct pj_build_id *id = saverids_find(saverids, &(struct file_id){ 8, 1, inode, 3 });

	return id && id->build_id.n == 20 && id->build_id.byte[0] == byte && id->build_id.byte[19] == byte;
}

static void life(struct saverids_ring *ring)
{
	struct saverids k = { 0 };
	struct pj_build_id id = build(7, 20, 1);

	saverids_take(&k, ring);
	ok(!saverids_find(&k, &(struct file_id){ 8, 1, 7, 3 }), "nothing is known at first");
	ok(saverids_put(ring, &id) && !saverids_find(&k, &(struct file_id){ 8, 1, 7, 3 }), "one is told");
	saverids_take(&k, ring);
	ok(knows(&k, 7, 1), "and taken");
	ok(!saverids_find(&k, &(struct file_id){ 8, 2, 7, 3 }) && !saverids_find(&k, &(struct file_id){ 9, 1, 7, 3 }) &&
		   !saverids_find(&k, &(struct file_id){ 8, 1, 7, 4 }) &&
		   !saverids_find(&k, &(struct file_id){ 8, 1, 8, 3 }),
	   "all four numbers count");
	id = build(7, 20, 2);
	saverids_put(ring, &id);
	saverids_take(&k, ring);
	ok(knows(&k, 7, 2) && k.now.n == 1, "what is told last holds");
	saverids_window(&k);
	ok(knows(&k, 7, 2), "it is known in the next window");
	saverids_window(&k);
	ok(!saverids_find(&k, &(struct file_id){ 8, 1, 7, 3 }), "and not in the one behind it");
	saverids_free(&k);
}

static void many(struct saverids_ring *ring)
{
	struct saverids k = { 0 };
	struct pj_build_id id;
	size_t put = 0, found = 0;

	for (uint64_t i = 1; i <= 2 * SAVERIDS_RING; i++) {
		id = build(i, 20, (uint8_t)i);
		put += saverids_put(ring, &id);
	}
	is_u64(put, SAVERIDS_RING, "what does not fit is not put");
	saverids_take(&k, ring);
	for (uint64_t i = 1; i <= 2 * SAVERIDS_RING; i++)
		found += knows(&k, i, (uint8_t)i);
	is_u64(found, SAVERIDS_RING, "and all that was put is found");
	for (uint64_t i = 1; i <= 3 * SAVERIDS_MOST; i++) {
		id = build(i << 20, 20, 1);
		saverids_put(ring, &id);
		saverids_take(&k, ring);
	}
	is_u64(k.now.n, SAVERIDS_MOST, "memory is bounded");
	ok(k.now.cap <= 2 * SAVERIDS_MOST, "so is the table");
	saverids_free(&k);
}

static void lies(struct saverids_ring *ring)
{
	struct saverids k = { 0 };
	struct pj_build_id id = build(1, 255, 1);

	saverids_put(ring, &id);
	id = build(2, 1, 1);
	saverids_put(ring, &id);
	id = build(0, 20, 1);
	saverids_put(ring, &id);
	saverids_take(&k, ring);
	is_u64(k.now.n, 0, "sizes that are none, and no file");
	atomic_store(&ring->head, atomic_load(&ring->head) + (UINT64_C(1) << 40));
	saverids_take(&k, ring);
	ok(k.now.n == 0 && atomic_load(&ring->tail) == atomic_load(&ring->head), "a head far ahead is passed over");
	atomic_store(&ring->head, 5);
	saverids_take(&k, ring);
	ok(k.now.n == 0 && atomic_load(&ring->tail) == 5, "one that goes back, too");
	saverids_free(&k);
}

int main(void)
{
	struct saverids_ring *r = mem_alloc(1, sizeof(*r));

	life(r);
	many(r);
	lies(r);
	free(r);
	return done();
}
