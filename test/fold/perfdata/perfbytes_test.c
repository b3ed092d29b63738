/* SPDX-License-Identifier: Apache-2.0 */
/* perfbytes - records across borders of blocks, holding, skipping, memory. */
/* covers: fold/perfdata/perfbytes.c */
#include "fold/perfdata/perfbytes.h"

#include "test/lib/tap.h"

struct source {
	uint64_t size;
	size_t max; /* bytes at once */
	uint64_t reads;
};

/* Byte i of the stream. */
static char at(uint64_t i)
{
	return (char)(i * 31 + (i >> 8) * 7 + (i >> 16));
}

static size_t more(void *from, char *to, size_t n, uint64_t where)
{
	struct source *s = from;
	size_t i;

	s->reads++;
	for (i = 0; i < n && i < s->max && where + i < s->size; i++)
		to[i] = at(where + i);
	return i;
}

static bool right(const char *p, uint64_t where, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i] != at(where + i))
			return false;
	return true;
}

/* Records of this size, of which every `keep`th is held for a while. */
static bool walk(size_t size, size_t max, size_t keep)
{
	struct source s = { .size = 13000000, .max = max };
	struct bytes b = { .more = more, .from = &s, .end = UINT64_MAX };
	uint64_t held[8] = { 0 }, place[8] = { 0 }, pos = 0, i = 0;
	unsigned n = 0;
	bool good = true;

	for (;; pos += size, i++) {
		struct str r = bytes_at(&b, pos, size);

		if (r.n < size) {
			good = good && pos + r.n == s.size;
			break;
		}
		good = good && right(r.p, pos, size);
		if (i % keep == 0) {
			held[n] = bytes_hold(&b, pos);
			place[n++] = pos;
		}
		if (n == countof(held)) {
			while (n) {
				n--;
				good = good && right(bytes_held(&b, held[n]), place[n], size) &&
				       bytes_place(&b, held[n]) == place[n];
				bytes_drop(&b, held[n]);
			}
			bytes_tidy(&b);
			good = good && b.n == 1;
		}
	}
	bytes_free(&b);
	return good;
}

static void skipping(void)
{
	struct source s = { .size = 10000000, .max = 100000 };
	struct bytes b = { .more = more, .from = &s, .end = 9000000 };
	struct str r = bytes_at(&b, 5, 10);

	ok(r.n >= 10 && right(r.p, 5, r.n), "from the middle on");
	r = bytes_at(&b, 7777777, 1000);
	ok(r.n >= 1000 && right(r.p, 7777777, r.n) && s.reads == 2, "what is passed over is not read");
	r = bytes_at(&b, 8999990, 100);
	ok(r.n == 10 && right(r.p, 8999990, 10), "not behind the end");
	r = bytes_at(&b, 9000000, 1);
	ok(r.n == 0 && bytes_at(&b, 9500000, 1).n == 0, "nothing there");
	bytes_free(&b);
}

static void made(void)
{
	struct bytes b = { 0 };
	uint64_t end = 0, pos = 0;
	bool good = true;

	for (unsigned i = 0; i < 300; i++) {
		size_t space;
		char *p = bytes_space(&b, pos, &space);

		good = good && space >= BYTES_FIRST / 4;
		if (space > 30001)
			space = 30001;
		for (size_t k = 0; k < space; k++)
			p[k] = at(end + k);
		bytes_made(&b, space);
		end += space;
		good = good && bytes_end(&b) == end;
		while (bytes_at(&b, pos, 4096).n >= 4096) {
			good = good && right(bytes_at(&b, pos, 4096).p, pos, 4096);
			pos += 4096;
		}
		bytes_tidy(&b);
		good = good && b.n == 1;
	}
	ok(good, "put by hand, taken in pieces of another size");
	bytes_free(&b);
}

int main(void)
{
	ok(walk(24, 1 << 20, 1), "small records, all held");
	ok(walk(1000, 1 << 20, 3), "of a size that fits no block");
	ok(walk(65535, 1 << 20, 2), "the largest records");
	ok(walk(400, 77, 1000), "a pipe that gives little at once");
	ok(walk(65535, 60000, 100), "few held");
	skipping();
	made();
	return done();
}
