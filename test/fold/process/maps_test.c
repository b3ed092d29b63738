/* Mappings: against an array of bytes that says of each address what is there, with copies that go their own ways. */
/* covers: fold/process/maps.c */
#include "fold/process/maps.h"

#include "test/lib/tap.h"

#include <stdlib.h>

enum { SPACE = 400, COPIES = 12 };

/* What is at each address: dso, add; 0: nothing. */
struct model {
	uint32_t dso[SPACE];
	uint64_t add[SPACE];
};

static uint64_t state = 1;

static uint64_t any(uint64_t below)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (state >> 33) % below;
}

static bool agree(const struct maps *maps, const struct model *model)
{
	for (uint64_t at = 0; at < SPACE; at++) {
		const struct map *found = maps_find(maps, at);

		if ((found ? found->dso : 0) != model->dso[at])
			return false;
		if (found && (found->add != model->add[at] || found->start > at || found->end <= at))
			return false;
	}
	return true;
}

static void change(struct maps *maps, struct model *model)
{
	uint64_t start = any(SPACE - 1), max = any(3) ? 20 : SPACE,
		 end = start + 1 + any(SPACE - start < max ? SPACE - start : max);
	struct map new = { start, end > SPACE ? SPACE : end, any(1000), (uint32_t)any(6), true };

	maps_insert(maps, new);
	for (uint64_t at = new.start; at < new.end; at++) {
		model->dso[at] = new.dso;
		model->add[at] = new.add;
	}
}

static void test_copies(void)
{
	static struct model model[COPIES];
	struct maps maps[COPIES] = { 0 };
	unsigned wrong = 0, polled = 0;

	for (unsigned i = 0; i < 20000; i++) {
		size_t one = any(COPIES), other = any(COPIES);

		if (any(8) == 0 && one != other) {
			maps_free(&maps[one]);
			maps[one] = maps_copy(&maps[other]);
			model[one] = model[other];
		} else {
			change(&maps[one], &model[one]);
		}
		if (i % 16)
			continue;
		polled++;
		for (size_t k = 0; k < COPIES; k++)
			wrong += !agree(&maps[k], &model[k]);
	}
	ok(polled > 1000 && wrong == 0, "what is later lies over what was there, and copies are independent");
	for (size_t k = 0; k < COPIES; k++)
		maps_free(&maps[k]);
}

/* In orders that are the worst for trees, and many copies: it would take hours, and all memory, if anything were
 * quadratic. */
static void test_many(void)
{
	enum { MANY = 200000 };
	struct maps m = { 0 }, *child = calloc(MANY, sizeof(*child));
	unsigned wrong = 0;

	for (uint64_t i = MANY; i > 0; i--)
		maps_insert(&m, (struct map){ 2 * i, 2 * i + 1, i, 1, true });
	for (uint64_t i = 0; child && i < MANY; i++) {
		child[i] = maps_copy(&m);
		maps_insert(&child[i], (struct map){ 1 + 2 * i, 2 + 2 * i, i, 2, true });
	}
	for (uint64_t i = 0; child && i < MANY; i += 7) {
		const struct map *own = maps_find(&child[i], 1 + 2 * i), *shared = maps_find(&child[i], 2 * MANY);

		wrong += !own || own->add != i || !shared || shared->add != MANY ||
			 maps_find(&child[i], 3 + 2 * i) != NULL;
	}
	ok(child && wrong == 0, "200000 mappings in 200000 children");
	for (uint64_t i = 0; child && i < MANY; i++)
		maps_free(&child[i]);
	maps_free(&m);
	ok(maps_empty(&m) && !maps_find(&m, 2), "nothing is left");
	free(child);
}

static void test_edges(void)
{
	struct maps m = { 0 };

	ok(maps_empty(&m) && !maps_find(&m, 0), "empty");
	maps_insert(&m, (struct map){ 0, UINT64_MAX, 5, 1, true });
	ok(maps_find(&m, 0) && maps_find(&m, UINT64_MAX - 1) && !maps_find(&m, UINT64_MAX),
	   "all addresses but the last");
	maps_insert(&m, (struct map){ 10, 20, 0, 0, false });
	ok(maps_find(&m, 9)->end == 10 && !maps_find(&m, 10) && !maps_find(&m, 19) && maps_find(&m, 20)->start == 20,
	   "a hole");
	maps_insert(&m, (struct map){ 0, UINT64_MAX, 0, 0, false });
	ok(maps_empty(&m), "all is gone");
	maps_free(&m);
}

int main(void)
{
	test_edges();
	test_copies();
	test_many();
	return done();
}
