/* SPDX-License-Identifier: Apache-2.0 */
#include "record/symsaver/saverring.h"

#define MASK (SAVERRING_BYTES - 1)

static void put_bytes(struct saver_shared *shared, uint64_t at, const void *p, size_t n)
{
	size_t i = (size_t)(at & MASK), first = n < SAVERRING_BYTES - i ? n : SAVERRING_BYTES - i;

	memcpy(shared->ring + i, p, first);
	memcpy(shared->ring, (const char *)p + first, n - first);
}

static void get_bytes(const struct saver_shared *shared, uint64_t at, void *p, size_t n)
{
	size_t i = (size_t)(at & MASK), first = n < SAVERRING_BYTES - i ? n : SAVERRING_BYTES - i;

	memcpy(p, shared->ring + i, first);
	memcpy((char *)p + first, shared->ring, n - first);
}

bool saverring_put(struct saver_shared *shared, struct saver_message *message, struct str path)
{
	uint64_t head = atomic_load_explicit(&shared->head, memory_order_relaxed);
	uint64_t used = head - atomic_load_explicit(&shared->tail, memory_order_acquire);

	path.n = path.n < SAVERRING_PATH ? path.n : SAVERRING_PATH;
	message->mapping.path = (struct str){ NULL, path.n };
	message->size = (uint32_t)((sizeof(*message) + path.n + 7) & ~(size_t)7);
	if (message->size > SAVERRING_BYTES - used)
		return false;
	put_bytes(shared, head, message, sizeof(*message));
	if (path.n)
		put_bytes(shared, head + sizeof(*message), path.p, path.n);
	atomic_store_explicit(&shared->head, head + message->size, memory_order_seq_cst);
	return true;
}

bool saverring_get(struct saver_shared *shared, struct saver_message *message, char path[SAVERRING_PATH + 1])
{
	uint64_t tail = atomic_load_explicit(&shared->tail, memory_order_relaxed);

	if (tail == atomic_load_explicit(&shared->head, memory_order_seq_cst))
		return false;
	get_bytes(shared, tail, message, sizeof(*message));
	get_bytes(shared, tail + sizeof(*message), path, message->mapping.path.n);
	path[message->mapping.path.n] = 0;
	message->mapping.path.p = path;
	atomic_store_explicit(&shared->tail, tail + message->size, memory_order_release);
	return true;
}
