/* Lists of frames wait for the samples that they belong to: each is taken once, old ones are dropped, and so are the
 * oldest of the tenant with the largest lists beyond the limit of bytes. */
/* covers: record/interpreters/framestore.c */
#include "record/interpreters/framestore.h"
#include "test/lib/tap.h"

#include <stdlib.h>

static const struct tenant first = { TENANT_USER, 1 }, second = { TENANT_USER, 2 };

static void put(struct framestore *store, uint32_t tid, uint64_t time, uint32_t bytes)
{
	struct framelist *list = framelist_new(1, bytes);

	list->tid = tid;
	list->time = time;
	framestore_put(store, list, first);
}

static bool take(struct framestore *store, uint32_t tid, uint64_t time)
{
	struct framelist *list = framestore_take(store, tid, time);
	bool found = list && list->tid == tid && list->time == time && list->n == 1;

	free(list);
	return found;
}

int main(void)
{
	struct framestore *store = framestore_new();
	struct framelist *list;
	unsigned n = 0;

	put(store, 7, 1000, 8);
	put(store, 8, 1000, 8);
	put(store, 7, 2000, 8);
	ok(!take(store, 9, 1000) && !take(store, 7, 1001), "no list for other samples");
	ok(take(store, 7, 1000), "a list by thread and time");
	ok(!take(store, 7, 1000), "  once");
	ok(take(store, 7, 2000) && take(store, 8, 1000), "  in any order");
	put(store, 7, 1000, 8);
	put(store, 8, 1000 + FRAMESTORE_NS, 8);
	put(store, 8, 1001 + FRAMESTORE_NS, 8);
	ok(!take(store, 7, 1000), "lists that nobody takes are dropped");
	ok(take(store, 8, 1000 + FRAMESTORE_NS), "  not sooner");
	for (uint32_t i = 0; i < 40; i++)
		put(store, i, 1002 + FRAMESTORE_NS, 1 << 20);
	for (uint32_t i = 0; i < 40; i++)
		n += take(store, i, 1002 + FRAMESTORE_NS) ? 1 : 0;
	ok(n == 31, "lists of 1 MB and some bytes fit into 32 MB 31 times");
	list = framelist_new(1, 8);
	list->tid = 99;
	list->time = 1002 + FRAMESTORE_NS;
	framestore_put(store, list, second);
	for (uint32_t i = 0; i < 100; i++)
		put(store, i, 1003 + FRAMESTORE_NS, 1 << 20);
	ok(take(store, 99, 1002 + FRAMESTORE_NS), "the lists of one tenant do not take the place of those of another");
	for (uint32_t i = 0; i < 100; i++)
		take(store, i, 1003 + FRAMESTORE_NS);
	list = framelist_new(1, 8);
	list->tid = 7;
	list->time = 2 * FRAMESTORE_NS;
	list->read_by = list->time + 10;
	list->named_by = list->time + 20;
	framestore_put(store, list, first);
	ok(framestore_has(store, 7, 2 * FRAMESTORE_NS, 2 * FRAMESTORE_NS + 21),
	   "a list that was read and named before a time");
	ok(!framestore_has(store, 7, 2 * FRAMESTORE_NS, 2 * FRAMESTORE_NS + 20), "  or was not");
	ok(!framestore_has(store, 8, 2 * FRAMESTORE_NS, UINT64_MAX), "  no list of another thread");
	ok(take(store, 7, 2 * FRAMESTORE_NS), "  it stays until it is taken");
	list = framelist_new(1, 8);
	list->tid = 7;
	list->time = 1;
	list->read_by = 10 * FRAMESTORE_NS;
	framestore_put(store, list, first);
	put(store, 8, list->read_by + 10, 8);
	ok(take(store, 7, 1), "  also if the thread has been off the CPU for long");
	put(store, 7, 1, 8);
	framestore_free(store);
	return done();
}
