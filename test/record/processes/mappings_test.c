/* Sets of mappings: limits, budgets, and that all memory is given back. */
/* covers: record/processes/mappings.c record/processes/linktable.c */
#include "record/processes/mappings.h"
#include "test/lib/tap.h"

#include <stdio.h>
#include <stdlib.h>

static const struct tenant payer = { TENANT_USER, 1000 };
static uint64_t state = 88172645463325252u;

static uint64_t random_u64(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static enum mappings_answer put(struct mapping_pool *pool, struct mappings **set, uint64_t start, uint64_t length,
				const char *path)
{
	struct mapping m = { .start = start, .length = length, .offset = start };
	struct mapped_file f = { .file_id.inode = 7, .path = str_of(path) };

	return mappings_put(pool, set, &payer, &m, &f);
}

static bool is_sorted(const struct mappings *set)
{
	uint64_t end = 0, n = 0, blocks = 0;

	for (uint32_t i = 0; i < set->nblocks; i++)
		blocks += set->block[i]->n > 0 && set->block[i]->n <= MAPPINGS_BLOCK;
	MAPPINGS_EACH(m, set)
	{
		if (m->start < end)
			return false;
		end = m->start + m->length;
		n++;
	}
	return n == set->n && blocks == set->nblocks;
}

/* A hundred address spaces that are forked, changed at random and dropped, with a budget that is often exceeded. */
static void check_random(uint64_t limit)
{
	struct tenant_limits limits = { .stock[TENANT_MEMORY] = limit };
	struct mapping_pool pool = { .tenants = tenants_new(&limits) };
	struct mappings *set[100] = { NULL };
	uint64_t answers[4] = { 0 };
	bool good = true;

	for (unsigned i = 0; i < 300000; i++) {
		uint64_t r = random_u64();
		struct mappings **one = &set[r % 100];
		char path[32];

		snprintf(path, sizeof(path), "/lib/%u", (unsigned)(r >> 8) % 5000);
		if (r >> 52 == 0) {
			mappings_drop(&pool, one);
		} else if (r >> 52 == 1 && set[0] && one != &set[0]) {
			mappings_drop(&pool, one);
			*one = set[0];
			set[0]->references++;
		} else {
			answers[put(&pool, one, (random_u64() % 4000) * 4096,
				    4096 * (1 + random_u64() % (r % 16 ? 2 : 40)), path)]++;
		}
		good &= i % 256 || !*one || is_sorted(*one);
	}
	ok(good, limit ? "300,000 changes of 100 sets within a budget leave each sorted" :
			 "300,000 changes of 100 sets leave each sorted");
	ok((answers[MAPPINGS_OVER] > 0) == (limit > 0), limit ? "  some are refused" : "  none is refused");
	for (unsigned i = 0; i < 100; i++)
		mappings_drop(&pool, &set[i]);
	is_u64(pool.mappings + pool.files.n, 0, "  in the end nothing is left");
	ok(tenants_hold(pool.tenants, payer, TENANT_MEMORY, limit), "  and nothing is charged");
	tenants_free(pool.tenants);
	mappings_pool_free(&pool);
}

static void check_limit(void)
{
	struct mapping_pool pool = { .tenants = NULL };
	struct mappings *set = NULL;
	uint64_t refused = 0;

	for (uint64_t i = 0; i < 60000; i++)
		refused += put(&pool, &set, (i * 7919 % 60000) * 8192, 4096, "/bin/x") == MAPPINGS_OVER;
	is_u64(set->n, MAPPINGS_MAX, "a set has no more than MAPPINGS_MAX");
	is_u64(refused, 60000 - MAPPINGS_MAX, "  all others are refused");
	ok(is_sorted(set), "  it is sorted");
	ok(put(&pool, &set, 0, 60000 * 8192, "/bin/y") == MAPPINGS_CHANGED && set->n == 1,
	   "one over all replaces them");
	ok(mappings_at(set, 5) && !mappings_at(set, 60000 * 8192), "  and is found");
	mappings_drop(&pool, &set);
	is_u64(pool.mappings + pool.files.n, 0, "  nothing is left");
	mappings_pool_free(&pool);
}

/* What an insertion moves must not grow with the set: bytes of the memory that sets of both sizes use are in
 * proportion. */
static void check_memory(void)
{
	struct mapping_pool pool = { .tenants = NULL };
	struct mappings *up = NULL, *down = NULL;
	uint64_t bytes[2] = { 0, 0 };

	for (uint64_t i = 0; i < 10000; i++) {
		put(&pool, &up, (i + 1) * 8192, 4096, "/bin/x");
		put(&pool, &down, (20000 - i) * 8192, 4096, "/bin/x");
	}
	for (uint32_t i = 0; i < up->nblocks; i++)
		bytes[0] += up->block[i]->cap;
	for (uint32_t i = 0; i < down->nblocks; i++)
		bytes[1] += down->block[i]->cap;
	ok(bytes[0] < 11000 && bytes[1] < 11000, "mappings in order, up or down, fill their blocks");
	for (uint64_t i = 0; i < 10000; i += 10)
		put(&pool, &up, (i + 1) * 8192, 9 * 8192, "/bin/x");
	bytes[0] = 0;
	for (uint32_t i = 0; i < up->nblocks; i++)
		bytes[0] += up->block[i]->cap;
	ok(is_sorted(up) && bytes[0] < 8 * up->n, "blocks that get empty are joined");
	mappings_drop(&pool, &up);
	mappings_drop(&pool, &down);
	mappings_pool_free(&pool);
}

/* Memory of CPython can have other trampolines at an address after the same mapping. */
static void check_memory_of_python(void)
{
	struct mapping_pool pool = { .tenants = NULL };
	struct mappings *set = NULL;
	struct mapped_file memory = { .path = STR("//anon") };
	struct mapping mapping = { .start = 1 << 20, .length = 65536 };
	uint64_t id;

	ok(mappings_put(&pool, &set, &payer, &mapping, &memory) == MAPPINGS_CHANGED &&
		   mappings_put(&pool, &set, &payer, &mapping, &memory) == MAPPINGS_SAME,
	   "memory that is mapped twice is the same");
	put(&pool, &set, 4096, 4096, "/usr/bin/python3.12");
	id = mappings_at(set, mapping.start)->id;
	ok(mappings_put(&pool, &set, &payer, &mapping, &memory) == MAPPINGS_CHANGED &&
		   mappings_at(set, mapping.start)->id != id,
	   "  but not in a process of CPython");
	ok(mappings_has(set, &mapping, &memory), "  though the set has the mapping");
	mapping.length = 4096;
	ok(!mappings_has(set, &mapping, &memory) && !mappings_has(NULL, &mapping, &memory), "  but no other one");
	is_u64(set->n, 2, "  it replaces the one before");
	is_u64(set->interpreters, 1, "  one mapping is CPython's");
	mappings_drop(&pool, &set);
	mappings_pool_free(&pool);
}

int main(void)
{
	check_random(0);
	check_random(300000);
	check_limit();
	check_memory();
	check_memory_of_python();
	return done();
}
