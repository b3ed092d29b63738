/* SPDX-License-Identifier: Apache-2.0 */
#include "record/interpreters/framestore.h"

#include "common/arena.h"
#include "common/hash.h"

#include <pthread.h>
#include <stdlib.h>

enum { FRAMESTORE_SLOTS = 4096, FRAMESTORE_QUEUES = 64 };

/* Lists of the tenants whose hash is the index of the queue. */
struct framequeue {
	struct framelist *oldest, *newest;
	size_t bytes;
};

struct framestore {
	pthread_mutex_t lock;
	struct framelist *slot[FRAMESTORE_SLOTS];
	struct framequeue queue[FRAMESTORE_QUEUES];
	size_t bytes;
};

static size_t framelist_size(uint32_t n, uint32_t bytes)
{
	return sizeof(struct framelist) + n * sizeof(struct interp_frame) + bytes;
}

struct framelist *framelist_new(uint32_t n, uint32_t bytes)
{
	struct framelist *list = mem_try_alloc(1, framelist_size(n, bytes));

	if (!list)
		return NULL;
	list->n = n;
	list->bytes = bytes;
	list->text = (char *)(list->frame + n);
	return list;
}

struct framestore *framestore_new(void)
{
	struct framestore *store = mem_alloc(sizeof(*store), 1);

	pthread_mutex_init(&store->lock, NULL);
	return store;
}

static struct framelist **framestore_slot(struct framestore *store, uint32_t tid, uint64_t time)
{
	return &store->slot[hash_pair(tid, time) % FRAMESTORE_SLOTS];
}

static void framestore_unlink(struct framestore *store, struct framelist *list)
{
	struct framelist **at = framestore_slot(store, list->tid, list->time);
	struct framequeue *queue = &store->queue[list->queue];
	size_t bytes = framelist_size(list->n, list->bytes);

	while (*at != list)
		at = &(*at)->chain;
	*at = list->chain;
	*(list->older ? &list->older->newer : &queue->oldest) = list->newer;
	*(list->newer ? &list->newer->older : &queue->newest) = list->older;
	queue->bytes -= bytes;
	store->bytes -= bytes;
}

/* Returns the time in ns at which the copy was made. For a thread off the CPU, list->time does not show that: the wait
 * may have begun long before the copy. */
static uint64_t made_at(const struct framelist *list)
{
	return list->read_by ? list->read_by : list->time;
}

static void drop_list(struct framestore *store, struct framelist *list)
{
	framestore_unlink(store, list);
	free(list);
}

/* Drops the lists that were made FRAMESTORE_NS before the time `now`, in ns. */
static void drop_expired(struct framestore *store, uint64_t now)
{
	for (uint32_t i = 0; i < FRAMESTORE_QUEUES; i++)
		while (store->queue[i].oldest && made_at(store->queue[i].oldest) + FRAMESTORE_NS < now)
			drop_list(store, store->queue[i].oldest);
}

/* Drops the oldest list of the queue with the most bytes. */
static void drop_of_largest(struct framestore *store)
{
	struct framequeue *largest = &store->queue[0];

	for (uint32_t i = 1; i < FRAMESTORE_QUEUES; i++)
		if (store->queue[i].bytes > largest->bytes)
			largest = &store->queue[i];
	drop_list(store, largest->oldest);
}

void framestore_put(struct framestore *store, struct framelist *list, struct tenant tenant)
{
	size_t bytes = framelist_size(list->n, list->bytes);
	struct framelist **slot;
	struct framequeue *queue;

	pthread_mutex_lock(&store->lock);
	slot = framestore_slot(store, list->tid, list->time);
	list->chain = *slot;
	*slot = list;
	list->queue = (uint32_t)(hash_pair(tenant.kind, tenant.key) % FRAMESTORE_QUEUES);
	queue = &store->queue[list->queue];
	list->older = queue->newest;
	list->newer = NULL;
	*(queue->newest ? &queue->newest->newer : &queue->oldest) = list;
	queue->newest = list;
	queue->bytes += bytes;
	store->bytes += bytes;
	drop_expired(store, made_at(list));
	while (store->bytes > FRAMESTORE_BYTES)
		drop_of_largest(store);
	pthread_mutex_unlock(&store->lock);
}

static struct framelist *framestore_find(struct framestore *store, uint32_t tid, uint64_t time)
{
	struct framelist *list = *framestore_slot(store, tid, time);

	while (list && (list->tid != tid || list->time != time))
		list = list->chain;
	return list;
}

bool framestore_has(struct framestore *store, uint32_t tid, uint64_t time, uint64_t until)
{
	const struct framelist *list;
	bool has;

	pthread_mutex_lock(&store->lock);
	list = framestore_find(store, tid, time);
	has = list && list->read_by < until && list->named_by < until;
	pthread_mutex_unlock(&store->lock);
	return has;
}

struct framelist *framestore_take(struct framestore *store, uint32_t tid, uint64_t time)
{
	struct framelist *list;

	pthread_mutex_lock(&store->lock);
	list = framestore_find(store, tid, time);
	if (list)
		framestore_unlink(store, list);
	pthread_mutex_unlock(&store->lock);
	return list;
}

void framestore_free(struct framestore *store)
{
	struct framelist *newer;

	if (!store)
		return;
	for (uint32_t i = 0; i < FRAMESTORE_QUEUES; i++)
		for (struct framelist *list = store->queue[i].oldest; list; list = newer) {
			newer = list->newer;
			free(list);
		}
	pthread_mutex_destroy(&store->lock);
	free(store);
}
