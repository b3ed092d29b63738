/* SPDX-License-Identifier: Apache-2.0 */
/* keepqueue_test.c - messages wait while their place rests, within limits, and come out in order. */
/* covers: record/symsaver/saverqueue.c */
#include "record/symsaver/saverqueue.h"

#include "test/lib/tap.h"

#include <stdlib.h>

#define MS UINT64_C(1000000)

static uint64_t user(uint64_t uid)
{
	return backoff_place(&(struct tenant){ TENANT_USER, uid }, 77, 5);
}

int main(void)
{
	struct backoff b = { 0 };
	struct saverqueue *q = calloc(1, sizeof(*q));
	struct saver_message m = { .kind = KEEP_CHECK, .mapping.path = STR("/some/path") }, got;
	char path[SAVERRING_PATH + 1];
	uint64_t slow = user(1), taken = 0;

	backoff_blocked(&b, slow, 2000 * MS, 0);
	for (uint64_t i = 0; i < 10000; i++) {
		m.key = i;
		taken += saverqueue_add(q, slow, &m);
	}
	is_u64(taken, SAVERQUEUE_PLACE_MAX, "one place has a share of the queue");
	ok(!saverqueue_next(q, &b, 1000 * MS, &got, path), "while it rests nothing comes out");
	backoff_blocked(&b, user(2), 1050 * MS, 0);
	m.key = 4711;
	ok(saverqueue_add(q, user(2), &m), "another one still has its own");
	ok(saverqueue_next(q, &b, 2000 * MS, &got, path) && got.key == 4711 && strcmp(path, "/some/path") == 0,
	   "and is served when it has rested");
	ok(saverqueue_next(q, &b, 20000 * MS, &got, path) && got.key == 0 &&
		   saverqueue_next(q, &b, 20000 * MS, &got, path) && got.key == 1,
	   "first in, first out");
	for (uint64_t i = 0; i < 10000; i++)
		saverqueue_add(q, user(i), &m);
	is_u64(q->n, SAVERQUEUE_MAX, "all of it is bounded");
	saverqueue_free(q);
	is_u64(q->n, 0, "freed");
	free(q);
	return done();
}
