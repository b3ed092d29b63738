/* SPDX-License-Identifier: Apache-2.0 */
#include "record/processes/mappings.h"

#include "common/arena.h"
#include "runtimes/hotspot/discover.h"
#include "common/hash.h"

#include <stdlib.h>

#define SMALL 8u /* mappings that the first block of a set has room for */

/* ---- memory --------------------------------------------------------------------------------------------------------
 */

/* Charges bytes for a set; *charged: those that somebody has to be given back. False: over the budget. */
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

/* ---- files ---------------------------------------------------------------------------------------------------------
 */

static uint64_t file_hash(const struct mapped_file *f)
{
	uint64_t id[4] = { (uint64_t)f->major << 32 | f->minor, f->inode, f->generation,
			   (uint64_t)f->protection << 32 | f->flags };

	return hash_mix(hash_bytes(id, sizeof(id)), hash_bytes(f->path.p, f->path.n));
}

static bool mappings_same_file(const struct mapped_file *a, const struct mapped_file *b)
{
	return a->inode == b->inode && a->generation == b->generation && a->major == b->major && a->minor == b->minor &&
	       a->protection == b->protection && a->flags == b->flags && str_eq(a->path, b->path);
}

/* jit-PID.dump, mapped by a JIT that writes it: readers know by it that there is one. */
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
	struct mapped_file *f;
	uint32_t charged;
	char *path;

	if (!mappings_charge(pool, set, payer, bytes, &charged))
		return NULL;
	f = mem_alloc(1, bytes);
	path = (char *)(f + 1);
	*f = *like;
	f->references = 0;
	f->window = 0;
	f->payer = *payer;
	f->charged = charged;
	memcpy(path, like->path.p, like->path.n);
	f->path = (struct str){ path, like->path.n };
	f->libjvm = discover_is_libjvm(f->path);
	f->jitdump = mappings_is_jitdump(f->path);
	linktable_add(&pool->files, &f->link, hash);
	return f;
}

/* Found or made, with one more reference; NULL: over the budget. */
static struct mapped_file *mappings_take_file(struct mapping_pool *pool, struct mappings *set,
					      const struct tenant *payer, const struct mapped_file *like)
{
	uint64_t hash = file_hash(like);
	struct link *e = linktable_first(&pool->files, hash);
	struct mapped_file *f;

	while (e && !(e->hash == hash && mappings_same_file((struct mapped_file *)e, like)))
		e = e->next;
	f = e ? (struct mapped_file *)e : make_file(pool, set, payer, like, hash);
	if (f)
		f->references++;
	return f;
}

static void drop_file(struct mapping_pool *pool, struct mapped_file *f)
{
	if (--f->references)
		return;
	linktable_remove(&pool->files, &f->link);
	mappings_give_back(pool, &f->payer, f->charged);
	free(f);
}

/* ---- blocks --------------------------------------------------------------------------------------------------------
 */

static size_t block_bytes(uint32_t cap)
{
	return sizeof(struct mapping_block) + cap * sizeof(struct mapping);
}

/* NULL: over the budget. */
static struct mapping_block *make_block(struct mapping_pool *pool, struct mappings *set, const struct tenant *payer,
					uint32_t cap)
{
	struct mapping_block *b;
	uint32_t charged;

	if (!mappings_charge(pool, set, payer, block_bytes(cap), &charged))
		return NULL;
	b = mem_alloc(1, block_bytes(cap));
	*b = (struct mapping_block){ .references = 1, .cap = cap, .charged = charged, .payer = *payer };
	return b;
}

static void free_block(struct mapping_pool *pool, struct mapping_block *b)
{
	mappings_give_back(pool, &b->payer, b->charged);
	free(b);
}

static void drop_block(struct mapping_pool *pool, struct mapping_block *b)
{
	if (--b->references)
		return;
	for (uint32_t i = 0; i < b->n; i++)
		drop_file(pool, b->mapping[i].file);
	pool->mappings -= b->n;
	free_block(pool, b);
}

/* Block i as one of this set alone, with room for `room` more mappings, of which it has MAPPINGS_BLOCK at most. NULL:
 * over the budget. */
static struct mapping_block *own_block(struct mapping_pool *pool, struct mappings *set, const struct tenant *payer,
				       uint32_t i, uint32_t space)
{
	struct mapping_block *old = set->block[i], *b;
	uint32_t cap = old->cap;

	if (old->references == 1 && old->n + space <= old->cap)
		return old;
	while (cap < old->n + space)
		cap = 2 * cap < MAPPINGS_BLOCK ? 2 * cap : MAPPINGS_BLOCK;
	b = make_block(pool, set, payer, cap);
	if (!b)
		return NULL;
	memcpy(b->mapping, old->mapping, old->n * sizeof(*old->mapping));
	b->n = old->n;
	set->block[i] = b;
	if (old->references == 1) {
		free_block(pool, old);
		return b;
	}
	old->references--;
	for (uint32_t k = 0; k < b->n; k++)
		b->mapping[k].file->references++;
	pool->mappings += b->n;
	return b;
}

static void insert_block(struct mappings *set, uint32_t i, struct mapping_block *b)
{
	if (set->nblocks == set->cap) {
		set->cap = set->cap ? 2 * set->cap : 1;
		set->block = mem_grow(set->block, sizeof(struct mapping_block *), set->cap);
	}
	memmove(set->block + i + 1, set->block + i, (set->nblocks - i) * sizeof(struct mapping_block *));
	set->block[i] = b;
	set->nblocks++;
}

static void remove_block(struct mapping_pool *pool, struct mappings *set, uint32_t i)
{
	drop_block(pool, set->block[i]);
	set->nblocks--;
	memmove(set->block + i, set->block + i + 1, (set->nblocks - i) * sizeof(struct mapping_block *));
}

/* Moves the second half of full block i, which is of this set alone, into one of its own. */
static bool split_block(struct mapping_pool *pool, struct mappings *set, const struct tenant *payer, uint32_t i)
{
	struct mapping_block *b = set->block[i], *next = make_block(pool, set, payer, MAPPINGS_BLOCK);
	uint32_t half = b->n / 2;

	if (!next)
		return false;
	next->n = b->n - half;
	memcpy(next->mapping, b->mapping + half, next->n * sizeof(*b->mapping));
	b->n = half;
	insert_block(set, i + 1, next);
	return true;
}

/* Joins block i and the next if both together are small, so that no two neighbours are nearly empty. */
static void join_blocks(struct mapping_pool *pool, struct mappings *set, const struct tenant *payer, uint32_t i)
{
	struct mapping_block *b, *next;

	if (i + 1 >= set->nblocks || set->block[i]->n + set->block[i + 1]->n > MAPPINGS_BLOCK / 2)
		return;
	next = set->block[i + 1];
	b = own_block(pool, set, payer, i, next->n);
	if (!b)
		return;
	memcpy(b->mapping + b->n, next->mapping, next->n * sizeof(*b->mapping));
	b->n += next->n;
	for (uint32_t k = 0; k < next->n; k++)
		next->mapping[k].file->references++;
	pool->mappings += next->n;
	remove_block(pool, set, i + 1);
}

/* ---- places --------------------------------------------------------------------------------------------------------
 */

struct place {
	uint32_t block, at;
};

static uint64_t mappings_end_of(const struct mapping *m)
{
	return m->start + m->length;
}

/* The first mapping that ends after address; block nblocks: none. */
static struct place mappings_place_of(const struct mappings *set, uint64_t address)
{
	uint32_t low = 0, high = set->nblocks, from = 0, to;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		const struct mapping_block *b = set->block[mid];

		if (mappings_end_of(&b->mapping[b->n - 1]) <= address)
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

static const struct mapping *mapping_in(const struct mappings *set, struct place p)
{
	return p.block < set->nblocks ? &set->block[p.block]->mapping[p.at] : NULL;
}

const struct mapping *mappings_at(const struct mappings *set, uint64_t address)
{
	const struct mapping *m = mapping_in(set, mappings_place_of(set, address));

	return m && m->start <= address ? m : NULL;
}

/* ---- changes -------------------------------------------------------------------------------------------------------
 */

static void count_file(struct mappings *set, const struct mapped_file *f, uint32_t one)
{
	set->n += one;
	set->libjvms += f->libjvm ? one : 0;
	set->jitdumps += f->jitdump ? one : 0;
}

/* A block with room at the place where a mapping with this start belongs; there is none in the set that overlaps it. */
static bool mappings_make_space(struct mapping_pool *pool, struct mappings *set, const struct tenant *payer,
				uint64_t start, struct place *p)
{
	struct mapping_block *b;

	*p = mappings_place_of(set, start);
	if (p->at == 0 && p->block > 0) { /* also the end of the block before */
		p->block--;
		p->at = set->block[p->block]->n;
	}
	if (p->block < set->nblocks && set->block[p->block]->n < MAPPINGS_BLOCK)
		return own_block(pool, set, payer, p->block, 1);
	if (p->block < set->nblocks && p->at > 0 && p->at < MAPPINGS_BLOCK) {
		if (!own_block(pool, set, payer, p->block, 0) || !split_block(pool, set, payer, p->block))
			return false;
		return mappings_make_space(pool, set, payer, start, p);
	}
	if (p->block < set->nblocks && p->at == MAPPINGS_BLOCK) {
		p->block++;
		p->at = 0;
		if (p->block < set->nblocks && set->block[p->block]->n < MAPPINGS_BLOCK)
			return own_block(pool, set, payer, p->block, 1);
	}
	b = make_block(pool, set, payer, set->nblocks ? MAPPINGS_BLOCK : SMALL);
	if (b)
		insert_block(set, p->block, b);
	return b;
}

/* Takes over the reference to its file; false: over the budget. */
static bool mappings_insert(struct mapping_pool *pool, struct mappings *set, const struct tenant *payer,
			    const struct mapping *m)
{
	struct mapping_block *b;
	struct place p;

	if (set->n >= MAPPINGS_MAX && pool->tenants)
		tenants_refused(pool->tenants, *payer, TENANT_MEMORY);
	if (set->n >= MAPPINGS_MAX || !mappings_make_space(pool, set, payer, m->start, &p)) {
		drop_file(pool, m->file);
		return false;
	}
	b = set->block[p.block];
	memmove(b->mapping + p.at + 1, b->mapping + p.at, (b->n - p.at) * sizeof(*b->mapping));
	b->mapping[p.at] = *m;
	b->n++;
	pool->mappings++;
	count_file(set, m->file, 1);
	return true;
}

/* Removes mapping p; where blocks cannot be copied for want of memory, the block with all that is in it. */
static void remove_at(struct mapping_pool *pool, struct mappings *set, const struct tenant *payer, struct place p)
{
	struct mapping_block *b = own_block(pool, set, payer, p.block, 0);

	if (!b || b->n == 1) {
		b = set->block[p.block];
		for (uint32_t i = 0; i < b->n; i++)
			count_file(set, b->mapping[i].file, UINT32_MAX);
		remove_block(pool, set, p.block);
		return;
	}
	count_file(set, b->mapping[p.at].file, UINT32_MAX);
	drop_file(pool, b->mapping[p.at].file);
	b->n--;
	pool->mappings--;
	memmove(b->mapping + p.at, b->mapping + p.at + 1, (b->n - p.at) * sizeof(*b->mapping));
	join_blocks(pool, set, payer, p.block);
	if (p.block)
		join_blocks(pool, set, payer, p.block - 1);
}

/* No mapping lies in [start, end) afterwards: parts of those in front and behind stay. */
static void mappings_clear(struct mapping_pool *pool, struct mappings *set, const struct tenant *payer, uint64_t start,
			   uint64_t end)
{
	for (;;) {
		struct place p = mappings_place_of(set, start);
		const struct mapping *at = mapping_in(set, p);
		struct mapping front, after;

		if (!at || at->start >= end)
			return;
		front = after = *at;
		front.length = start > at->start ? start - at->start : 0;
		if (mappings_end_of(at) > end) {
			after.start = end;
			after.length = mappings_end_of(at) - end;
			after.offset += end - at->start;
		} else {
			after.length = 0;
		}
		front.file->references += (front.length ? 1u : 0u) + (after.length ? 1u : 0u);
		remove_at(pool, set, payer, p);
		if (front.length)
			mappings_insert(pool, set, payer, &front);
		if (after.length)
			mappings_insert(pool, set, payer, &after);
	}
}

/* *set as one that no other process has. */
static struct mappings *own_set(struct mapping_pool *pool, struct mappings **set)
{
	struct mappings *old = *set, *s;

	if (old && old->references == 1)
		return old;
	s = *set = mem_alloc(sizeof(*s), 1);
	if (old) {
		*s = *old;
		s->bytes = MAPPINGS_FREE; /* copies of blocks are charged */
		s->cap = s->nblocks;
		s->block = mem_alloc(sizeof(struct mapping_block *), s->cap);
		memcpy(s->block, old->block, s->nblocks * sizeof(struct mapping_block *));
		for (uint32_t i = 0; i < s->nblocks; i++)
			s->block[i]->references++;
		old->references--;
		if (old->n <= MAPPINGS_BLOCK)
			s->bytes = 0; /* but those of ordinary processes */
	}
	s->references = 1;
	s->version = ++pool->version;
	return s;
}

enum mappings_answer mappings_put(struct mapping_pool *pool, struct mappings **set, const struct tenant *payer,
				  const struct mapping *mapping, const struct mapped_file *file)
{
	const struct mapping *same = *set ? mappings_at(*set, mapping->start) : NULL;
	struct mapping new = *mapping;
	struct mappings *s;
	uint64_t end;

	if (__builtin_add_overflow(mapping->start, mapping->length, &end) || mapping->start == end)
		return MAPPINGS_BAD;
	if (same && same->start == new.start && same->length == new.length &&
	    same->offset == new.offset &&mappings_same_file(same->file, file))
		return MAPPINGS_SAME;
	s = own_set(pool, set);
	s->version = ++pool->version;
	new.id = ++pool->id;
	new.file = mappings_take_file(pool, s, payer, file);
	mappings_clear(pool, s, payer, new.start, end);
	return new.file &&mappings_insert(pool, s, payer, &new) ? MAPPINGS_CHANGED : MAPPINGS_OVER;
}

void mappings_drop(struct mapping_pool *pool, struct mappings **set)
{
	struct mappings *s = *set;

	*set = NULL;
	if (!s || --s->references)
		return;
	for (uint32_t i = 0; i < s->nblocks; i++)
		drop_block(pool, s->block[i]);
	free(s->block);
	free(s);
}

void mappings_pool_free(struct mapping_pool *pool)
{
	free(pool->files.slot);
}
