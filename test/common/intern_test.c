/* intern_test - equal bytes, equal numbers; ranks as by str_cmp. */
/* covers: common/intern.c common/hash.c */
#include "common/intern.h"

#include "test/lib/tap.h"

#include <stdlib.h>

#define MANY 200000

static struct str number(char *buf, size_t cap, const char *prefix, unsigned i)
{
	return (struct str){ buf, (size_t)snprintf(buf, cap, "%s%u", prefix, i) };
}

static void ids(void)
{
	struct intern t = { 0 };
	bool dense = true, found = true, same = true;
	const char *first;
	char buf[64];

	is_u64(intern_find(&t, STR("a")), 0, "nothing is in an empty table");
	is_u64(intern(&t, STR("")), 1, "the empty string is a name like others");
	is_u64(intern(&t, STR("a")), 2, "ids are dense");
	is_u64(intern(&t, STR("a\0")), 3, "a NUL makes a difference");
	is_u64(intern(&t, STR("a\0b")), 4, "so does what is behind it");
	is_u64(intern(&t, STR("a")), 2, "a second time: the same id");
	is_u64(intern(&t, (struct str){ 0 }), 1, "{0} is the empty string");
	is_u64(intern_find(&t, STR("b")), 0, "find does not add");
	first = intern_str(&t, 2).p;
	for (unsigned i = 0; i < MANY; i++)
		dense = intern(&t, number(buf, sizeof(buf), "a/long/common/prefix/of/more/than/16/bytes/", i)) ==
				i + 5 &&
			dense;
	ok(dense, "ids stay dense while the table grows");
	for (unsigned i = 0; i < MANY; i++) {
		struct str s = number(buf, sizeof(buf), "a/long/common/prefix/of/more/than/16/bytes/", i);

		found = intern_find(&t, s) == i + 5 && intern(&t, s) == i + 5 && found;
		same = str_eq(intern_str(&t, i + 5), s) && same;
	}
	ok(found, "and all are found");
	ok(same, "with their bytes");
	ok(intern_str(&t, 2).p == first, "bytes never move");
	is_u64(t.n, MANY + 4, "none too many");
	intern_free(&t);
	ok(t.n == 0 && intern(&t, STR("x")) == 1, "after free it starts anew");
	intern_free(&t);
}

/* Names whose low hash bits are equal end in the same place of the table: bytes decide. */
static void collisions(void)
{
	struct intern t = { 0 };
	unsigned n = 0, good = 0;
	char buf[64];
	uint32_t id[64];
	unsigned number_of[64];

	for (unsigned i = 0; n < countof(id) && i < 100u << 20; i++) {
		struct str s = number(buf, sizeof(buf), "f", i);

		if ((hash_bytes(s.p, s.n) & 0xffff) == 0x1234) {
			number_of[n] = i;
			id[n++] = intern(&t, s);
		}
	}
	for (unsigned i = 0; i < n; i++)
		good += intern_find(&t, number(buf, sizeof(buf), "f", number_of[i])) == id[i] && id[i] == i + 1;
	is_u64(good, n, "names that collide stay apart");
	is_u64(n, countof(id), "there were such names");
	intern_free(&t);
}

static void hashes(void)
{
	char a[80] = { 0 };
	bool differs = true;

	for (size_t n = 1; n <= 64; n++)
		for (size_t i = 0; i < n; i++) {
			uint64_t h = hash_bytes(a, n);

			a[i] = 1;
			differs = differs && hash_bytes(a, n) != h;
			a[i] = 0;
		}
	ok(differs, "every byte of up to 64 counts in the hash");
	ok(hash_bytes(a, 3) != hash_bytes(a, 4) && hash_bytes(a, 16) != hash_bytes(a, 32),
	   "so does the length of zeroes");
	ok(hash_bytes(NULL, 0) == hash_bytes(a, 0), "nothing has one hash");
	ok(hash_bytes("pj", 2) == hash_bytes(&"xpj"[1], 2), "alignment does not count");
}

static const struct intern *sorted;

static int by_str_cmp(const void *a, const void *b)
{
	return str_cmp(intern_str(sorted, *(const uint32_t *)a), intern_str(sorted, *(const uint32_t *)b));
}

/* rank against a sort with str_cmp */
static bool ranks_right(const struct intern *t)
{
	uint32_t *rank = intern_ranks(t), *id = mem_alloc(sizeof(*id), t->n);
	bool right = true;

	for (uint32_t i = 0; i < t->n; i++)
		id[i] = i + 1;
	sorted = t;
	if (t->n)
		qsort(id, t->n, sizeof(*id), by_str_cmp);
	for (uint32_t i = 0; i < t->n; i++)
		right = right && rank[id[i]] == i;
	free(rank);
	free(id);
	return right;
}

static void ranks(void)
{
	struct intern t = { 0 };
	uint64_t seed = 1;
	char long_name[64 * 1024];

	ok(ranks_right(&t), "ranks of an empty table");
	intern(&t, STR("only"));
	ok(ranks_right(&t), "ranks of one name");
	intern(&t, STR(""));
	for (size_t n = 0; n <= 20; n++) {
		static const char zeroes[32];

		intern(&t, (struct str){ zeroes, n });
		intern(&t, str_head(STR("prefix-of-some-length-x"), n));
		intern(&t, str_head(STR("prefix-of-some-length\0y"), n));
	}
	ok(ranks_right(&t), "prefixes of each other, and names of NULs only");
	for (unsigned i = 0; i < 30000; i++) {
		char buf[40];
		size_t n;

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		n = (size_t)(seed >> 33) % sizeof(buf);
		for (size_t k = 0; k < n; k++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			buf[k] = k < 17 ? 'a' : (char)("\0\x01\x7f\x80\xff;ab"[(seed >> 40) & 7]);
		}
		intern(&t, (struct str){ buf, n });
	}
	ok(ranks_right(&t), "random names that differ behind the 16th byte, with NULs and high bytes");
	memset(long_name, 'x', sizeof(long_name));
	for (size_t i = 0; i < 50; i++) {
		long_name[sizeof(long_name) - 1 - i] = 'y';
		intern(&t, (struct str){ long_name, sizeof(long_name) });
		intern(&t, (struct str){ long_name, sizeof(long_name) - i });
	}
	ok(ranks_right(&t), "names of 64 kB that differ at their end");
	intern_free(&t);
}

int main(void)
{
	ids();
	collisions();
	hashes();
	ranks();
	return done();
}
