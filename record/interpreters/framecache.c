/* SPDX-License-Identifier: Apache-2.0 */
#include "record/interpreters/framecache.h"

#include "common/arena.h"
#include "common/hash.h"

#include <stdlib.h>

enum { HALF_FRAMES = FRAMECACHE_FRAMES / 2, HALF_BYTES = FRAMECACHE_BYTES / 2, HALF_SLOTS = 2 * HALF_FRAMES };

static bool framecache_same(const struct framecache_key *key, const struct framecache_key *other)
{
	return key->code == other->code && key->scope == other->scope && key->instruction == other->instruction &&
	       key->process == other->process;
}

/* Returns the slot of a key; if the key has no entry, the free slot in which to store it. */
static struct framecache_entry *framecache_slot(const struct framecache_half *half, const struct framecache_key *key)
{
	size_t at = hash_bytes(key, sizeof(*key)) % HALF_SLOTS;

	while (half->entry[at].used && !framecache_same(&half->entry[at].key, key))
		at = (at + 1) % HALF_SLOTS;
	return &half->entry[at];
}

/* Returns the entry with the last reading of a key, which may be too old to be valid; NULL if the key has no entry. */
static const struct framecache_entry *framecache_last(const struct framecache *cache, const struct framecache_key *key)
{
	const struct framecache_half *half[] = { &cache->young, &cache->old };

	for (size_t i = 0; i < countof(half); i++) {
		const struct framecache_entry *entry = half[i]->entry ? framecache_slot(half[i], key) : NULL;

		if (entry && entry->used)
			return entry;
	}
	return NULL;
}

/* Returns the time in ns for which an entry is valid after its last reading (entry->seen); 0 if its line is not known
 * yet. */
static uint64_t framecache_lasting(const struct framecache_entry *entry)
{
	uint64_t lasting = (entry->seen - entry->since) / 16;

	if (entry->again)
		return 0;
	return lasting < FRAMECACHE_NS ? lasting : FRAMECACHE_NS;
}

const struct framecache_entry *framecache_find(const struct framecache *cache, const struct framecache_key *key,
					       uint64_t now)
{
	const struct framecache_entry *entry = framecache_last(cache, key);

	return entry && now <= entry->seen + framecache_lasting(entry) ? entry : NULL;
}

static void framecache_drop(struct framecache_half *half)
{
	intern_free(&half->texts);
	free(half->entry);
	*half = (struct framecache_half){ 0 };
}

/* Makes space for an entry: if the young half is full, frees the old half and makes the young half the old one. */
static void framecache_make_space(struct framecache *cache)
{
	if (cache->young.n >= HALF_FRAMES || cache->young.bytes >= HALF_BYTES) {
		framecache_drop(&cache->old);
		cache->old = cache->young;
		cache->young = (struct framecache_half){ 0 };
	}
	if (!cache->young.entry)
		cache->young.entry = mem_alloc(sizeof(*cache->young.entry), HALF_SLOTS);
}

/* Compares a reading with the last reading of the same key. If both have the same result, *read gets `since` and
 * `replaced` from *last; otherwise sets read->replaced to true. text: name and file of the reading. line_later: true:
 * the reading has no line yet, so *read gets the line of *last. */
static void framecache_continue(const struct framecache *cache, const struct framecache_entry *last,
				struct framecache_entry *read, struct str text, bool line_later)
{
	read->replaced = true;
	if (last->named != read->named || last->address != read->address || !str_eq(framecache_text(cache, last), text))
		return;
	if (line_later)
		read->line = last->line;
	if (last->line == read->line || last->again) {
		read->since = last->since;
		read->replaced = last->replaced;
	}
}

const struct framecache_entry *framecache_put(struct framecache *cache, const struct framecache_key *key,
					      enum interpreter_named named, const struct interpreter_place *place,
					      struct str text, uint64_t now)
{
	struct framecache_entry read = { .key = *key,
					 .since = now,
					 .seen = now,
					 .named = (uint8_t)named,
					 .used = true },
				*entry;
	const struct framecache_entry *last;
	struct framecache_half *young = &cache->young;

	framecache_make_space(cache);
	last = framecache_last(cache, key);
	if (named == INTERPRETER_NAMED) {
		uint32_t before = young->texts.n;

		read.address = place->address;
		read.line = place->line;
		read.first = place->first;
		read.from_text = place->from_text;
		read.text = intern(&young->texts, text);
		young->bytes += young->texts.n > before ? text.n : 0;
	}
	if (last)
		framecache_continue(cache, last, &read, read.text ? text : (struct str){ 0 }, place->line_later);
	read.again = place->line_later && !read.line;
	entry = framecache_slot(young, key);
	young->n += !entry->used;
	*entry = read;
	return entry;
}

struct str framecache_text(const struct framecache *cache, const struct framecache_entry *entry)
{
	const struct framecache_half *young = &cache->young;
	bool is_young = young->entry && entry >= young->entry && entry < young->entry + HALF_SLOTS;

	return entry->text ? intern_str(is_young ? &young->texts : &cache->old.texts, entry->text) : (struct str){ 0 };
}

void framecache_free(struct framecache *cache)
{
	framecache_drop(&cache->young);
	framecache_drop(&cache->old);
}
