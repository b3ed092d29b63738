/* Callchains that wait: once each, counted, bounded. */
/* covers: record/offcpu/chains.c */
#include "record/offcpu/chains.h"
#include "common/arena.h"
#include "test/lib/tap.h"

#include <stdlib.h>

static void check_equal(void)
{
	struct chains c = { 0 };
	uint64_t a[] = { 1, 2, 3 }, b[] = { 1, 2, 4 };
	struct chain *x = chains_get(&c, a, 3, 0), *y = chains_get(&c, a, 3, 0), *z = chains_get(&c, b, 3, 0),
		     *w = chains_get(&c, a, 2, 0);

	ok(x == y && x != z && x != w, "equal ones are one");
	is_u64(c.n, 3, "three in all");
	is_u64(x->references, 2, "two refer to it");
	ok(x->n == 3 && x->ips[2] == 3 && w->n == 2, "what was put in");
	ok(chains_get(&c, NULL, 0, 0)->n == 0, "an empty one");
	chains_put(&c, NULL);
	chains_put(&c, x);
	is_u64(c.unused, 0, "one still refers to it");
	chains_put(&c, y);
	is_u64(c.unused, sizeof(struct chain) + 24, "nobody does");
	ok(chains_get(&c, a, 3, 0) == x, "it is still there");
	is_u64(c.unused, 0, "and used again");
	chains_free(&c);
}

static void check_bounds(void)
{
	struct chains c = { 0 };
	uint64_t ips[100] = { 0 };
	size_t size = sizeof(struct chain) + sizeof(ips), max = CHAINS_MAX / size, highest = 0;
	struct chain **saved = mem_alloc(sizeof(struct chain *), max + 1);
	size_t n = 0;

	for (ips[7] = 1; ips[7] < 20000; ips[7]++) {
		chains_put(&c, chains_get(&c, ips, 100, 0));
		highest = c.bytes > highest ? c.bytes : highest;
	}
	ok(highest <= CHAINS_UNUSED + 2 * size, "what nobody refers to goes");
	chains_free(&c);
	for (ips[7] = 1; n <= max && (saved[n] = chains_get(&c, ips, 100, 0)); ips[7]++)
		n++;
	is_u64(n, max, "as many as there is room for");
	ips[7] = 1;
	ok(chains_get(&c, ips, 100, 0) == saved[0], "what is there can be had still");
	size_t gone = CHAINS_UNUSED / size + 2;
	for (size_t i = 0; i < gone; i++)
		chains_put(&c, saved[i]);
	ips[7] = UINT64_MAX;
	ok(chains_get(&c, ips, 100, 0), "and what went makes room");
	bool same = true;
	for (size_t i = gone; i < n; i++)
		same &= saved[i]->ips[7] == i + 1;
	ok(same, "nothing else was touched");
	chains_free(&c);
	free(saved);
}

/* Adds chains of this owner until one is refused. Returns how many there are. */
static size_t fill(struct chains *c, uint32_t owner, uint32_t n)
{
	static uint64_t ips[1000];
	size_t added = 0;

	for (ips[0] = owner, ips[1] = 1; chains_get(c, ips, n, owner); ips[1]++)
		added++;
	return added;
}

static void check_owners(void)
{
	struct chains c = { 0 };
	size_t size = sizeof(struct chain) + 8000, each = CHAINS_OWNER / size;

	is_u64(fill(&c, 1, 1000), each, "chains of an owner are bounded");
	is_u64(fill(&c, 2, 1000), each, "  and those of another one as well");
	for (uint32_t owner = 3; owner < CHAINS_OWNERS; owner++)
		fill(&c, owner, 1000);
	ok(c.read <= CHAINS_READ && c.read > CHAINS_READ - size, "  and those of all");
	ok(fill(&c, 0, 1000) >= (CHAINS_MAX - CHAINS_READ) / size, "those without owner have half of the space still");
	chains_free(&c);
	ok(c.read == 0 && c.owned[1] == 0, "none is left");
	for (unsigned round = 0; round < 4; round++) {
		uint64_t ips[1000] = { round };
		struct chain *taken[8];

		for (unsigned i = 0; i < countof(taken); i++) {
			ips[1] = i;
			taken[i] = chains_get(&c, ips, 1000, 7);
		}
		for (unsigned i = 0; i < countof(taken); i++)
			chains_put(&c, taken[i]);
	}
	is_u64(c.owned[7], 32 * size, "what nobody refers to counts until it goes");
	for (uint64_t i = 0; i < 100; i++) {
		uint64_t ips[1000] = { 9, i };

		chains_put(&c, chains_get(&c, ips, 1000, 0));
	}
	is_u64(c.owned[7], 0, "  and not after that");
	chains_free(&c);
}

int main(void)
{
	check_equal();
	check_bounds();
	check_owners();
	return done();
}
