/* The list of callees: positions are counted from the front, in lists shorter and longer than a step of the search. */
/* covers: svg/format/callees.h */
#include "test/lib/tap.h"

#include "svg/format/callees.h"

enum { LENGTHS = 3 * CALLEES_STEP + 2 };

static void test_find(void)
{
	struct callees callees = { 0 };
	struct arena memory = { 0 };
	bool good = true;

	for (uint32_t n = 1; n <= LENGTHS; n++) {
		callees_push(&callees, n, &memory);
		for (uint32_t id = 1; id <= n; id++)
			good = good && callees_find(&callees, id) == n - id + 1;
	}
	ok(good, "each id is found at its position, in lists of all lengths");
	arena_free(&memory);
}

static void test_to_front(void)
{
	struct callees callees = { 0 };
	struct arena memory = { 0 };
	bool good = true;

	for (uint32_t id = 1; id <= LENGTHS; id++)
		callees_push(&callees, id, &memory);
	/* the oldest id is at the end each time, so it is the longest search of the longest list */
	for (uint32_t id = 1; id <= LENGTHS; id++)
		good = good && callees_find(&callees, id) == LENGTHS && callees_to_front(&callees, LENGTHS) == id &&
		       callees_find(&callees, id) == 1;
	ok(good, "an id that moves to the front is found there");
	arena_free(&memory);
}

int main(void)
{
	test_find();
	test_to_front();
	return done();
}
