/* SPDX-License-Identifier: Apache-2.0 */
#include "record/processes/mappings.h"

#include "common/arena.h"
#include "runtimes/cpython/cpython.h"
#include "runtimes/perl/perl.h"
#include "runtimes/php/php.h"
#include "runtimes/ruby/ruby.h"
#include "runtimes/v8/v8.h"
#include "runtimes/hotspot/hotspotruntime.h"
#include "common/hash.h"

#include <stdlib.h>

#define SMALL 8u /* capacity of the first block of a set, in mappings */

/* ---- charging of memory ----------------------------------------------------------------------------------------- */

/* Adds `bytes` to set->bytes, and charges them to the tenant `payer` if the set then exceeds MAPPINGS_FREE. Sets
 * *charged to the number of bytes to release later; 0 if nothing was charged. Returns false, without adding, if the
 * tenant is over budget. */
static bool mappings_charge(struct mapping_pool *pool, struct mappings *set, const struct tenant *payer, size_t bytes,
			    uint32_t *charged)
{
	bool free_of_charge = !pool->tenants || set->bytes + bytes <= MAPPINGS_FREE;

	*charged = free_of_charge ? 0 : (uint32_t)bytes;
	if (!free_of_charge && !tenants_hold(pool->tenants, *payer, TENANT_MEMORY, bytes))
		return false;
	if (set->bytes < UINT32_MAX / 2)
		set->bytes += (uint32_t)bytes;
	return true;
}

static void mappings_give_back(struct mapping_pool *pool, const struct tenant *payer, uint32_t charged)
{
	if (charged)
		tenants_release(pool->tenants, *payer, TENANT_MEMORY, charged);
}

/* ---- files of mappings ------------------------------------------------------------------------------------------ */

static uint64_t file_hash(const struct mapped_file *file)
{
	uint64_t id[4] = { (uint64_t)file->file_id.major << 32 | file->file_id.minor, file->file_id.inode,
			   file->file_id.generation, (uint64_t)file->protection << 32 | file->flags };

	return hash_mix(hash_bytes(id, sizeof(id)), hash_bytes(file->path.p, file->path.n));
}

static bool mappings_same_file(const struct mapped_file *file, const struct mapped_file *b)
{
	return file_id_equal(&file->file_id, &b->file_id) && file->protection == b->protection &&
	       file->flags == b->flags && str_eq(file->path, b->path);
}

/* Returns true if the path names a jitdump, jit-PID.dump, also a deleted one. A JIT maps its jitdump so that profilers
 * find the file by the mapping. */
static bool mappings_is_jitdump(struct str path)
{
	struct str base = str_from(path, (size_t)(str_rfind(path, '/') + 1));

	return str_starts(base, STR("jit-")) &&
	       (str_ends(base, STR(".dump")) || str_ends(base, STR(".dump (deleted)")));
}

static struct mapped_file *make_file(struct mapping_pool *pool, struct mappings *set, const struct tenant *payer,
				     const struct mapped_file *like, uint64_t hash)
{
	size_t bytes = sizeof(*like) + like->path.n + 1;
	struct mapped_file *file;
	uint32_t charged;
	char *path;

	if (!mappings_charge(pool, set, payer, bytes, &charged))
		return NULL;
	file = mem_alloc(1, bytes);
	path = (char *)(file + 1);
	*file = *like;
	file->references = 0;
	file->window = 0;
	file->payer = *payer;
	file->charged = charged;
	memcpy(path, like->path.p, like->path.n);
	file->path = (struct str){ path, like->path.n };
	file->libjvm = runtime_hotspot.is_library(file->path);
	file->jitdump = mappings_is_jitdump(file->path);
	file->interpreter = cpython_is_library(file->path) || ruby_is_library(file->path) ||
			    php_is_library(file->path) || perl_is_library(file->path) || v8_is_library(file->path);
	linktable_add(&pool->files, &file->link, hash);
	return file;
}

/* Returns the pool's file with the key of `like`, and adds one to its references. If the pool has no such file, adds a
 * copy of `like`. Returns NULL if the tenant is over budget. */
static struct mapped_file *mappings_take_file(struct mapping_pool *pool, struct mappings *set,
					      const struct tenant *payer, const struct mapped_file *like)
{
	uint64_t hash = file_hash(like);
	struct link *link = linktable_first(&pool->files, hash);
	struct mapped_file *file;

	while (link && !(link->hash == hash && mappings_same_file((struct mapped_file *)link, like)))
		link = link->next;
	file = link ? (struct mapped_file *)link : make_file(pool, set, payer, like, hash);
	if (file)
		file->references++;
	return file;
}

static void drop_file(struct mapping_pool *pool, struct mapped_file *file)
{
	if (--file->references)
		return;
	linktable_remove(&pool->files, &file->link);
	mappings_give_back(pool, &file->payer, file->charged);
	free(file);
}

/* ---- blocks of mappings ----------------------------------------------------------------------------------------- */

static size_t block_bytes(uint32_t cap)
{
	return sizeof(struct mapping_block) + cap * sizeof(struct mapping);
}

/* Returns a new empty block with capacity for `cap` mappings; NULL if the tenant is over budget. */
static struct mapping_block *make_block(struct mapping_pool *pool, struct mappings *set, const struct tenant *payer,
					uint32_t cap)
{
	struct mapping_block *block;
	uint32_t charged;

	if (!mappings_charge(pool, set, payer, block_bytes(cap), &charged))
		return NULL;
	block = mem_alloc(1, block_bytes(cap));
	*block = (struct mapping_block){ .references = 1, .cap = cap, .charged = charged, .payer = *payer };
	return block;
}

static void free_block(struct mapping_pool *pool, struct mapping_block *block)
{
	mappings_give_back(pool, &block->payer, block->charged);
	free(block);
}

static void drop_block(struct mapping_pool *pool, struct mapping_block *block)
{
	if (--block->references)
		return;
	for (uint32_t i = 0; i < block->n; i++)
		drop_file(pool, block->mapping[i].file);
	pool->mappings -= block->n;
	free_block(pool, block);
}

/* Returns block i of the set for writing, with capacity for `space` more mappings (at most MAPPINGS_BLOCK in all). If
 * other sets contain the block, or its capacity is too small, replaces it in the set by a copy. Returns NULL, without
 * change, if the tenant is over budget. */
static struct mapping_block *own_block(struct mapping_pool *pool, struct mappings *set, const struct tenant *payer,
				       uint32_t i, uint32_t space)
{
	struct mapping_block *old = set->block[i], *block;
	uint32_t cap = old->cap;

	if (old->references == 1 && old->n + space <= old->cap)
		return old;
	while (cap < old->n + space)
		cap = 2 * cap < MAPPINGS_BLOCK ? 2 * cap : MAPPINGS_BLOCK;
	block = make_block(pool, set, payer, cap);
	if (!block)
		return NULL;
	memcpy(block->mapping, old->mapping, old->n * sizeof(*old->mapping));
	block->n = old->n;
	set->block[i] = block;
	if (old->references == 1) {
		free_block(pool, old);
		return block;
	}
	old->references--;
	for (uint32_t index = 0; index < block->n; index++)
		/* NOLINTNEXTLINE(clang-analyzer-core.*): each mapping of a block has a file */
		block->mapping[index].file->references++;
	pool->mappings += block->n;
	return block;
}

static void insert_block(struct mappings *set, uint32_t i, struct mapping_block *block)
{
	if (set->nblocks == set->cap) {
		set->cap = set->cap ? 2 * set->cap : 1;
		set->block = mem_grow(set->block, sizeof(struct mapping_block *), set->cap);
	}
	memmove(set->block + i + 1, set->block + i, (set->nblocks - i) * sizeof(struct mapping_block *));
	set->block[i] = block;
	set->nblocks++;
}

static void remove_block(struct mapping_pool *pool, struct mappings *set, uint32_t i)
{
	drop_block(pool, set->block[i]);
	set->nblocks--;
	memmove(set->block + i, set->block + i + 1, (set->nblocks - i) * sizeof(struct mapping_block *));
}

/* Moves the second half of the full block i into a new block after it; no other set may contain block i. Returns false,
 * without change, if the tenant is over budget. */
static bool split_block(struct mapping_pool *pool, struct mappings *set, const struct tenant *payer, uint32_t i)
{
	struct mapping_block *block = set->block[i], *next = make_block(pool, set, payer, MAPPINGS_BLOCK);
	uint32_t half = block->n / 2;

	if (!next)
		return false;
	next->n = block->n - half;
	memcpy(next->mapping, block->mapping + half, next->n * sizeof(*block->mapping));
	block->n = half;
	insert_block(set, i + 1, next);
	return true;
}

/* Joins block i and the next block if the result has at most MAPPINGS_BLOCK / 2 mappings, so that no two adjacent
 * blocks are nearly empty. Does nothing if the tenant is over budget. */
static void join_blocks(struct mapping_pool *pool, struct mappings *set, const struct tenant *payer, uint32_t i)
{
	struct mapping_block *block, *next;

	if (i + 1 >= set->nblocks || set->block[i]->n + set->block[i + 1]->n > MAPPINGS_BLOCK / 2)
		return;
	next = set->block[i + 1];
	block = own_block(pool, set, payer, i, next->n);
	if (!block)
		return;
	memcpy(block->mapping + block->n, next->mapping, next->n * sizeof(*block->mapping));
	block->n += next->n;
	for (uint32_t index = 0; index < next->n; index++)
		next->mapping[index].file->references++;
	pool->mappings += next->n;
	remove_block(pool, set, i + 1);
}

/* ---- positions in a set ----------------------------------------------------------------------------------------- */

struct place {
	/* block: index of a block in the set; at: index of a mapping in the block */
	uint32_t block, at;
};

static uint64_t mappings_end_of(const struct mapping *mapping)
{
	return mapping->start + mapping->length;
}

/* Returns the position of the first mapping that ends after `address`. If there is none, the result's `block` is
 * nblocks. */
static struct place mappings_place_of(const struct mappings *set, uint64_t address)
{
	uint32_t low = 0, high = set->nblocks, from = 0, to;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		const struct mapping_block *block = set->block[mid];

		if (mappings_end_of(&block->mapping[block->n - 1]) <= address)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == set->nblocks)
		return (struct place){ low, 0 };
	to = set->block[low]->n;
	while (from < to) {
		uint32_t mid = from + (to - from) / 2;

		if (mappings_end_of(&set->block[low]->mapping[mid]) <= address)
			from = mid + 1;
		else
			to = mid;
	}
	return (struct place){ low, from };
}

static const struct mapping *mapping_in(const struct mappings *set, struct place place)
{
	return place.block < set->nblocks ? &set->block[place.block]->mapping[place.at] : NULL;
}

const struct mapping *mappings_at(const struct mappings *set, uint64_t address)
{
	const struct mapping *mapping = mapping_in(set, mappings_place_of(set, address));

	return mapping && mapping->start <= address ? mapping : NULL;
}

/* ---- changes of a set ------------------------------------------------------------------------------------------- */

static void count_file(struct mappings *set, const struct mapped_file *file, uint32_t one)
{
	set->n += one;
	/* NOLINTNEXTLINE(clang-analyzer-core.*): each mapping of a block has a file */
	set->libjvms += file->libjvm ? one : 0;
	set->jitdumps += file->jitdump ? one : 0;
	set->interpreters += file->interpreter ? one : 0;
}

/* Makes space for one mapping that starts at `start` and overlaps no mapping of the set. Sets *place to the mapping's
 * position. Returns false if the tenant is over budget. */
static bool mappings_make_space(struct mapping_pool *pool, struct mappings *set, const struct tenant *payer,
				uint64_t start, struct place *place)
{
	struct mapping_block *block;

	*place = mappings_place_of(set, start);
	/* the position before the first mapping of a block is also the end of the previous block, which may have
	 * space */
	if (place->at == 0 && place->block > 0) {
		place->block--;
		place->at = set->block[place->block]->n;
	}
	if (place->block < set->nblocks && set->block[place->block]->n < MAPPINGS_BLOCK)
		return own_block(pool, set, payer, place->block, 1);
	if (place->block < set->nblocks && place->at > 0 && place->at < MAPPINGS_BLOCK) {
		if (!own_block(pool, set, payer, place->block, 0) || !split_block(pool, set, payer, place->block))
			return false;
		return mappings_make_space(pool, set, payer, start, place);
	}
	if (place->block < set->nblocks && place->at == MAPPINGS_BLOCK) {
		place->block++;
		place->at = 0;
		if (place->block < set->nblocks && set->block[place->block]->n < MAPPINGS_BLOCK)
			return own_block(pool, set, payer, place->block, 1);
	}
	block = make_block(pool, set, payer, set->nblocks ? MAPPINGS_BLOCK : SMALL);
	if (block)
		insert_block(set, place->block, block);
	return block;
}

/* Inserts a mapping, which takes the caller's reference to its file. If the tenant is over budget or the set is full,
 * removes that reference instead and returns false. */
static bool mappings_insert(struct mapping_pool *pool, struct mappings *set, const struct tenant *payer,
			    const struct mapping *mapping)
{
	struct mapping_block *block;
	struct place place;

	if (set->n >= MAPPINGS_MAX && pool->tenants)
		tenants_refused(pool->tenants, *payer, TENANT_MEMORY);
	if (set->n >= MAPPINGS_MAX || !mappings_make_space(pool, set, payer, mapping->start, &place)) {
		drop_file(pool, mapping->file);
		return false;
	}
	block = set->block[place.block];
	memmove(block->mapping + place.at + 1, block->mapping + place.at,
		(block->n - place.at) * sizeof(*block->mapping));
	block->mapping[place.at] = *mapping;
	block->n++;
	pool->mappings++;
	count_file(set, mapping->file, 1);
	return true;
}

/* Removes the mapping at a position. If other sets contain its block and the tenant's budget does not suffice for a
 * copy of the block, removes the block with all its mappings from the set. */
static void remove_at(struct mapping_pool *pool, struct mappings *set, const struct tenant *payer, struct place place)
{
	struct mapping_block *block = own_block(pool, set, payer, place.block, 0);

	if (!block || block->n == 1) {
		block = set->block[place.block];
		for (uint32_t i = 0; i < block->n; i++)
			count_file(set, block->mapping[i].file, UINT32_MAX);
		remove_block(pool, set, place.block);
		return;
	}
	count_file(set, block->mapping[place.at].file, UINT32_MAX);
	drop_file(pool, block->mapping[place.at].file);
	block->n--;
	pool->mappings--;
	memmove(block->mapping + place.at, block->mapping + place.at + 1,
		(block->n - place.at) * sizeof(*block->mapping));
	join_blocks(pool, set, payer, place.block);
	if (place.block)
		join_blocks(pool, set, payer, place.block - 1);
}

/* Removes the address range [start, end) from the mappings of a set. The parts of a mapping that are outside of the
 * range stay, as far as the tenant's budget suffices. */
static void mappings_clear(struct mapping_pool *pool, struct mappings *set, const struct tenant *payer, uint64_t start,
			   uint64_t end)
{
	for (;;) {
		struct place place = mappings_place_of(set, start);
		const struct mapping *mapping = mapping_in(set, place);
		struct mapping front, after;

		if (!mapping || mapping->start >= end)
			return;
		front = after = *mapping;
		front.length = start > mapping->start ? start - mapping->start : 0;
		if (mappings_end_of(mapping) > end) {
			after.start = end;
			after.length = mappings_end_of(mapping) - end;
			after.offset += end - mapping->start;
		} else {
			after.length = 0;
		}
		front.file->references += (front.length ? 1u : 0u) + (after.length ? 1u : 0u);
		remove_at(pool, set, payer, place);
		if (front.length)
			mappings_insert(pool, set, payer, &front);
		if (after.length)
			mappings_insert(pool, set, payer, &after);
	}
}

/* Returns a set that no other process uses, and sets *set to it: creates it if *set is NULL, copies it if other
 * processes use it. */
static struct mappings *own_set(struct mapping_pool *pool, struct mappings **set)
{
	struct mappings *old = *set, *mappings;

	if (old && old->references == 1)
		return old;
	mappings = *set = mem_alloc(sizeof(*mappings), 1);
	if (old) {
		*mappings = *old;
		/* counts the free bytes (MAPPINGS_FREE) as used, so that copies of the blocks are charged to the tenant
		 */
		mappings->bytes = MAPPINGS_FREE;
		mappings->cap = mappings->nblocks;
		mappings->block = mem_alloc(sizeof(struct mapping_block *), mappings->cap);
		memcpy(mappings->block, old->block, mappings->nblocks * sizeof(struct mapping_block *));
		for (uint32_t i = 0; i < mappings->nblocks; i++)
			mappings->block[i]->references++;
		old->references--;
		if (old->n <= MAPPINGS_BLOCK)
			/* exception: a set with few mappings, as of an ordinary process, has its free bytes again, so
			 * that copies of its blocks are not charged at first */
			mappings->bytes = 0;
	}
	mappings->references = 1;
	mappings->version = ++pool->version;
	return mappings;
}

/* Returns true if the memory of this mapping can contain other code than before although the mapping is the same:
 * memory without a file in a process that has mapped an interpreter. The reason: there are no records of munmap, nor of
 * an mprotect that only forbids execution. */
static bool may_have_changed(const struct mappings *set, const struct mapped_file *file)
{
	return set->interpreters && mapped_file_is_memory(file);
}

bool mappings_has(const struct mappings *set, const struct mapping *mapping, const struct mapped_file *file)
{
	const struct mapping *same = set ? mappings_at(set, mapping->start) : NULL;

	return same && same->start == mapping->start && same->length == mapping->length &&
	       same->offset == mapping->offset && mappings_same_file(same->file, file);
}

enum mappings_answer mappings_put(struct mapping_pool *pool, struct mappings **set, const struct tenant *payer,
				  const struct mapping *mapping, const struct mapped_file *file)
{
	struct mapping new = *mapping;
	struct mappings *mappings;
	uint64_t end;

	if (__builtin_add_overflow(mapping->start, mapping->length, &end) || mapping->start == end)
		return MAPPINGS_BAD;
	if (mappings_has(*set, mapping, file) && !may_have_changed(*set, file))
		return MAPPINGS_SAME;
	mappings = own_set(pool, set);
	mappings->version = ++pool->version;
	new.id = ++pool->id;
	new.file = mappings_take_file(pool, mappings, payer, file);
	mappings_clear(pool, mappings, payer, new.start, end);
	return new.file &&mappings_insert(pool, mappings, payer, &new) ? MAPPINGS_CHANGED : MAPPINGS_OVER;
}

void mappings_drop(struct mapping_pool *pool, struct mappings **set)
{
	struct mappings *mappings = *set;

	*set = NULL;
	if (!mappings || --mappings->references)
		return;
	for (uint32_t i = 0; i < mappings->nblocks; i++)
		drop_block(pool, mappings->block[i]);
	free(mappings->block);
	free(mappings);
}

void mappings_pool_free(struct mapping_pool *pool)
{
	free(pool->files.slot);
}
