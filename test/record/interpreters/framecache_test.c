/* Frames that were read lately: young entries are read again at once, confirmed ones after a sixteenth of their age,
 * and a reading that differs makes them young. */
/* covers: record/interpreters/framecache.c */
#include "record/interpreters/framecache.h"
#include "test/lib/tap.h"

#define MS UINT64_C(1000000)

static struct framecache cache;

static void put(const struct framecache_key *key, struct str text, uint64_t now)
{
	static const struct interpreter_place place = { .address = 0x1000, .line = 7 };

	framecache_put(&cache, key, text.n ? INTERPRETER_NAMED : INTERPRETER_UNNAMED, &place, text, now);
}

/* Puts a reading whose line is 9, or comes later (0). */
static const struct framecache_entry *put_line(const struct framecache_key *key, uint32_t line, uint64_t now)
{
	const struct interpreter_place place = { .address = 0x2000, .line = line, .line_later = line == 0 };

	return framecache_put(&cache, key, INTERPRETER_NAMED, &place, STR("f\0f.js\0"), now);
}

static void check_later(void)
{
	const struct framecache_key key = { 9, 9, 9, 9 };

	is_u64(put_line(&key, 0, 1000 * MS)->line, 0, "a line that comes later");
	put_line(&key, 0, 2000 * MS);
	ok(!framecache_find(&cache, &key, 2001 * MS), "  is asked for at each reading");
	is_u64(put_line(&key, 9, 3000 * MS)->since, 1000 * MS, "  and its name is as old as it is");
	is_u64(put_line(&key, 0, 5000 * MS)->line, 9, "  and stays once it is known");
	ok(framecache_find(&cache, &key, 5100 * MS), "  for as long as others");
}

int main(void)
{
	check_later();
	struct framecache_key key = { 1, 2, 3, 4 }, other = { 1, 2, 3, 5 };
	const struct framecache_entry *entry;

	ok(!framecache_find(&cache, &key, MS), "an empty cache has nothing");
	put(&key, STR("m.f\0m.py\0"), 1000 * MS);
	entry = framecache_find(&cache, &key, 1000 * MS);
	ok(entry && entry->address == 0x1000 && entry->line == 7 && !entry->replaced, "a new entry counts at once");
	is_str(framecache_text(&cache, entry), STR("m.f\0m.py\0"), "  with its text");
	ok(!framecache_find(&cache, &key, 1001 * MS), "  and not 1 ms later");
	ok(!framecache_find(&cache, &other, 1000 * MS), "that of another process is another one");
	put(&key, STR("m.f\0m.py\0"), 1160 * MS);
	ok(framecache_find(&cache, &key, 1169 * MS), "confirmed for 160 ms, it counts for 10 ms");
	ok(!framecache_find(&cache, &key, 1171 * MS), "  and not longer");
	put(&key, STR("m.f\0m.py\0"), 101000 * MS);
	ok(framecache_find(&cache, &key, 101999 * MS) && !framecache_find(&cache, &key, 102001 * MS),
	   "for 100 s, 1 s at most");
	put(&key, STR("m.g\0m.py\0"), 103000 * MS);
	entry = framecache_find(&cache, &key, 103000 * MS);
	ok(entry && entry->replaced && entry->since == 103000 * MS, "another name replaces it");
	ok(!framecache_find(&cache, &key, 103001 * MS), "another name makes it young");
	put(&key, (struct str){ 0 }, 104000 * MS);
	entry = framecache_find(&cache, &key, 104000 * MS);
	ok(entry && entry->named == INTERPRETER_UNNAMED && !framecache_text(&cache, entry).n,
	   "no name is a result, too");
	put(&other, STR("m.f\0m.py\0"), 1000 * MS);
	for (uint64_t i = 0; i < 2 * FRAMECACHE_FRAMES + 1; i++) {
		put(&(struct framecache_key){ i, 9, 9, 9 }, STR("m.f\0m.py\0"), MS);
		if (i % (FRAMECACHE_FRAMES / 4) == 0)
			put(&other, STR("m.f\0m.py\0"), 2000 * MS);
	}
	ok(cache.young.n + cache.old.n <= FRAMECACHE_FRAMES &&
		   framecache_find(&cache, &(struct framecache_key){ 2 * FRAMECACHE_FRAMES, 9, 9, 9 }, MS),
	   "a full cache has the last entries");
	ok(!framecache_find(&cache, &(struct framecache_key){ 5, 9, 9, 9 }, MS), "  not the first ones");
	entry = framecache_find(&cache, &other, 2000 * MS);
	ok(entry && entry->since == 1000 * MS, "  and those of others that are read again");
	framecache_free(&cache);
	return done();
}
