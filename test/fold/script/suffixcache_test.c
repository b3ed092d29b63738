/* suffixcache_test - ends of samples and common last lines, against plain loops, for texts of all small lengths. */
/* covers: fold/script/suffixcache.c */
#include "fold/script/suffixcache.h"

#include "test/lib/tap.h"

#include <stdlib.h>
#include <string.h>

static uint32_t seed = 1;

static unsigned pick(unsigned n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 16) % n;
}

/* Fills n bytes: letters, and every tenth a newline. */
static void fill(char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		text[i] = pick(10) ? (char)('a' + pick(2)) : '\n';
}

static const char *plain_end(const char *at, const char *end)
{
	for (; end - at > 1; at++)
		if (at[0] == '\n' && at[1] == '\n')
			return at + 1;
	return NULL;
}

static void test_ends(void)
{
	unsigned wrong = 0, found = 0;

	for (unsigned round = 0; round < 20000; round++) {
		size_t n = pick(300);
		char *text = malloc(n + 1); /* a text of its own: AddressSanitizer sees what is read behind it */

		fill(text, n);
		wrong += suffixcache_end(text, text + n) != plain_end(text, text + n);
		found += plain_end(text, text + n) != NULL;
		free(text);
	}
	is_u64(wrong, 0, "the first empty line of 20,000 texts");
	ok(found > 5000 && found < 19000, "  which most have, but not all");
}

static void test_borders(void)
{
	char text[200];
	unsigned wrong = 0;

	for (size_t i = 0; i + 1 < sizeof(text); i++) {
		memset(text, 'a', sizeof(text));
		text[i] = text[i + 1] = '\n';
		wrong += suffixcache_end(text, text + sizeof(text)) != text + i + 1;
		wrong += suffixcache_end(text, text + i + 1) != NULL;
	}
	is_u64(wrong, 0, "an empty line at each place");
}

/* Appends the lines of [text, end) to the cache as those of a sample. */
static struct suffix_sample sample_of(struct suffixcache *cache, const char *text, const char *end)
{
	struct suffix_sample sample = { 1, end, cache->n, 0 };

	for (const char *at = text; at < end; at++) {
		if (at > text && at[-1] != '\n')
			continue;
		suffixcache_reserve(cache, 1);
		cache->line[cache->n++] = (struct suffix_line){ .start = at };
		sample.n++;
	}
	return sample;
}

/* Number of lines of `before` that both texts end with, from a start of a line in both. */
static uint32_t plain_match(const char *before, size_t nbefore, const char *text, size_t n)
{
	uint32_t lines = 0, shared = 0;

	for (size_t i = 1; i <= n && i <= nbefore && before[nbefore - i] == text[n - i]; i++) {
		if (i < nbefore && before[nbefore - i - 1] != '\n')
			continue;
		lines++;
		if (i == n || text[n - i - 1] == '\n')
			shared = lines;
	}
	return shared;
}

static void test_matches(void)
{
	unsigned wrong = 0, some = 0;

	for (unsigned round = 0; round < 20000; round++) {
		size_t nbefore = 1 + pick(200), n = 1 + pick(200), same = pick(200);
		char *before = malloc(nbefore), *text = malloc(n);
		struct suffixcache cache = { 0 };
		struct suffix_sample sample;
		uint32_t want;

		fill(before, nbefore);
		fill(text, n);
		for (size_t i = 1; i <= same && i <= n && i <= nbefore; i++)
			text[n - i] = before[nbefore - i];
		sample = sample_of(&cache, before, before + nbefore);
		want = plain_match(before, nbefore, text, n);
		wrong += suffixcache_match(&cache, &sample, text, text + n) != want;
		some += want > 0;
		free(cache.line);
		free(before);
		free(text);
	}
	is_u64(wrong, 0, "the common last lines of 20,000 pairs of texts");
	ok(some > 5000, "  of which many have some");
}

int main(void)
{
	test_ends();
	test_borders();
	test_matches();
	return done();
}
