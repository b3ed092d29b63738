/* SPDX-License-Identifier: Apache-2.0 */
#include "record/interpreters/framecache.h"

#include "common/arena.h"
#include "common/hash.h"

#include <stdlib.h>

enum { FRAMECACHE_SLOTS = 2 * FRAMECACHE_FRAMES };

static bool framecache_same(const struct framecache_key *key, const struct framecache_key *other)
{
	return key->code == other->code && key->scope == other->scope && key->instruction == other->instruction &&
	       key->process == other->process;
}

/* Returns the slot of a key: its own, or the free one where it belongs. */
static struct framecache_entry *framecache_slot(const struct framecache *cache, const struct framecache_key *key)
{
	size_t at = hash_bytes(key, sizeof(*key)) % FRAMECACHE_SLOTS;

	while (cache->entry[at].used && !framecache_same(&cache->entry[at].key, key))
		at = (at + 1) % FRAMECACHE_SLOTS;
	return &cache->entry[at];
}

/* Returns the time after `seen` for which an entry counts. */
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
	const struct framecache_entry *entry = cache->entry ? framecache_slot(cache, key) : NULL;

	return entry && entry->used && now <= entry->seen + framecache_lasting(entry) ? entry : NULL;
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

	if (cache->n >= FRAMECACHE_FRAMES || cache->bytes >= FRAMECACHE_BYTES)
		framecache_free(cache);
	if (!cache->entry)
		cache->entry = mem_alloc(sizeof(*cache->entry), FRAMECACHE_SLOTS);
	if (named == INTERPRETER_NAMED) {
		uint32_t before = cache->texts.n;

		read.address = place->address;
		read.line = place->line;
		read.first = place->first;
		read.from_text = place->from_text;
		read.text = intern(&cache->texts, text);
		cache->bytes += cache->texts.n > before ? text.n : 0;
	}
	entry = framecache_slot(cache, key);
	cache->n += !entry->used;
	read.replaced = entry->used;
	if (entry->used && entry->named == read.named && entry->address == read.address && entry->text == read.text) {
		if (place->line_later)
			read.line = entry->line;
		if (entry->line == read.line || entry->again) {
			read.since = entry->since;
			read.replaced = entry->replaced;
		}
	}
	read.again = place->line_later && !read.line;
	*entry = read;
	return entry;
}

struct str framecache_text(const struct framecache *cache, const struct framecache_entry *entry)
{
	return entry->text ? intern_str(&cache->texts, entry->text) : (struct str){ 0 };
}

void framecache_free(struct framecache *cache)
{
	intern_free(&cache->texts);
	free(cache->entry);
	*cache = (struct framecache){ 0 };
}
