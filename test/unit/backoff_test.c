/* backoff_test - places that keep the keeper waiting rest, others do not; messages that wait have limits. */
#include "record/backoff.h"

#include "tap.h"

#include <stdlib.h>

#define MS UINT64_C(1000000)

static uint64_t place(uint64_t key, uint64_t device)
{
	struct tenant of = { TENANT_USER, key };

	return backoff_place(&of, device);
}

static void rests(void)
{
	struct backoff *b = calloc(1, sizeof(*b));
	uint64_t slow = place(1000, 5), other = place(1000, 6), many = 0;

	ok(slow && slow != other && slow != place(1001, 5), "device and tenant make a place");
	backoff_charge(b, slow, 1000 * MS, 0);
	ok(backoff_may(b, slow, 0), "a second at once is free");
	backoff_charge(b, slow, 100 * MS, 0);
	ok(!backoff_may(b, slow, 399 * MS) && backoff_may(b, slow, 400 * MS), "100 ms more cost 400");
	ok(backoff_may(b, other, 0), "for that place only");
	for (uint64_t i = 0; i < 1000; i++)
		backoff_charge(b, other, 250 * MS, i * 1000 * MS);
	ok(backoff_may(b, other, 1000 * 1000 * MS), "a quarter of the time is free for ever");
	for (uint64_t i = 0; i < 1000; i++)
		backoff_charge(b, slow, i % 2 ? UINT64_MAX : 1000 * MS, 0);
	ok(!backoff_may(b, slow, 235000 * MS) && backoff_may(b, slow, 236000 * MS), "four minutes at most");
	for (uint64_t i = 0; i < 10000; i++)
		backoff_charge(b, place(i + 2000, 1), 1100 * MS, 0);
	for (uint64_t i = 0; i < 10000; i++)
		many += !backoff_may(b, place(i + 2000, 1), 0);
	ok(many < BACKOFF_MAX && !backoff_may(b, slow, 1000 * MS), "many others do not end the rest of the slowest");
	free(b);
}

static void waits(void)
{
	struct backoff *b = calloc(1, sizeof(*b));
	struct keep_message m = { .kind = KEEP_CHECK, .mapping.path = STR("/some/path") }, got;
	char path[KEEPRING_PATH + 1];
	uint64_t slow = place(1, 1), taken = 0;

	backoff_charge(b, slow, 2000 * MS, 0);
	for (uint64_t i = 0; i < 10000; i++) {
		m.key = i;
		taken += backoff_defer(b, slow, &m);
	}
	is_u64(taken, BACKOFF_QUEUE_SHARE, "one place has a share of the queue");
	ok(!backoff_next(b, 1000 * MS, &got, path), "while it rests nothing comes out");
	backoff_charge(b, place(2, 2), 1050 * MS, 0);
	m.key = 4711;
	ok(backoff_defer(b, place(2, 2), &m), "another one still has its own");
	ok(backoff_next(b, 2000 * MS, &got, path) && got.key == 4711 && strcmp(path, "/some/path") == 0, "and is served when it has rested");
	ok(backoff_next(b, 20000 * MS, &got, path) && got.key == 0 && backoff_next(b, 20000 * MS, &got, path) && got.key == 1, "first in, first out");
	for (uint64_t i = 0; i < 10000; i++)
		backoff_defer(b, place(i, 7), &m);
	is_u64(b->queued, BACKOFF_QUEUE, "all of it is bounded");
	backoff_free(b);
	is_u64(b->queued, 0, "freed");
	free(b);
}

int main(void)
{
	rests();
	waits();
	return done();
}
