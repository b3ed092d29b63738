/* SPDX-License-Identifier: Apache-2.0 */
#include "record/symsaver/saverring.h"

#define MASK (SAVERRING_BYTES - 1)

static void put_bytes(struct saver_shared *s, uint64_t at, const void *p, size_t n)
{
	size_t i = (size_t)(at & MASK), first = n < SAVERRING_BYTES - i ? n : SAVERRING_BYTES - i;

	memcpy(s->ring + i, p, first);
	memcpy(s->ring, (const char *)p + first, n - first);
}

static void get_bytes(const struct saver_shared *s, uint64_t at, void *p, size_t n)
{
	size_t i = (size_t)(at & MASK), first = n < SAVERRING_BYTES - i ? n : SAVERRING_BYTES - i;

	memcpy(p, s->ring + i, first);
	memcpy((char *)p + first, s->ring, n - first);
}

bool saverring_put(struct saver_shared *s, struct saver_message *m, struct str path)
{
	uint64_t head = atomic_load_explicit(&s->head, memory_order_relaxed);
	uint64_t used = head - atomic_load_explicit(&s->tail, memory_order_acquire);

	path.n = path.n < SAVERRING_PATH ? path.n : SAVERRING_PATH;
	m->mapping.path = (struct str){ NULL, path.n };
	m->size = (uint32_t)((sizeof(*m) + path.n + 7) & ~(size_t)7);
	if (m->size > SAVERRING_BYTES - used)
		return false;
	put_bytes(s, head, m, sizeof(*m));
	if (path.n)
		put_bytes(s, head + sizeof(*m), path.p, path.n);
	atomic_store_explicit(&s->head, head + m->size, memory_order_seq_cst);
	return true;
}

bool saverring_get(struct saver_shared *s, struct saver_message *m, char path[SAVERRING_PATH + 1])
{
	uint64_t tail = atomic_load_explicit(&s->tail, memory_order_relaxed);

	if (tail == atomic_load_explicit(&s->head, memory_order_seq_cst))
		return false;
	get_bytes(s, tail, m, sizeof(*m));
	get_bytes(s, tail + sizeof(*m), path, m->mapping.path.n);
	path[m->mapping.path.n] = 0;
	m->mapping.path.p = path;
	atomic_store_explicit(&s->tail, tail + m->size, memory_order_release);
	return true;
}
