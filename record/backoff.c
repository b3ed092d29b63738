/* SPDX-License-Identifier: Apache-2.0 */
#include "backoff.h"

#include "arena.h"
#include "hash.h"

#include <stdlib.h>

uint64_t backoff_place(const struct tenant *of, uint64_t device)
{
	uint64_t place[3] = { of->kind, of->key, device };

	return hash_bytes(place, sizeof(place)) | 1;
}

static uint64_t debt_now(const struct place_debt *d, uint64_t now)
{
	uint64_t paid = now > d->at ? (now - d->at) / BACKOFF_SHARE : 0;

	return d->ns > paid ? d->ns - paid : 0;
}

bool backoff_may(const struct backoff *p, uint64_t key, uint64_t now)
{
	for (size_t i = 0; i < BACKOFF_MAX; i++)
		if (p->debt[i].key == key)
			return debt_now(&p->debt[i], now) <= BACKOFF_BURST_NS;
	return true;
}

void backoff_charge(struct backoff *p, uint64_t key, uint64_t blocked_ns, uint64_t now)
{
	struct place_debt *slot = &p->debt[0];
	uint64_t before;

	for (size_t i = 0; i < BACKOFF_MAX && slot->key != key; i++) /* of too many the one with the least debt is forgotten */
		if (p->debt[i].key == key || debt_now(&p->debt[i], now) < debt_now(slot, now))
			slot = &p->debt[i];
	before = debt_now(slot, now);
	if (slot->key != key && blocked_ns < before)
		return;
	before = slot->key == key ? before : 0;
	if (blocked_ns > BACKOFF_DEBT_NS - before)
		blocked_ns = BACKOFF_DEBT_NS - before;
	*slot = (struct place_debt){ key, before + blocked_ns, now };
}

bool backoff_defer(struct backoff *p, uint64_t key, const struct keep_message *m)
{
	struct place_waiting *w;
	size_t share = 0;

	for (size_t i = 0; i < p->queued; i++)
		share += p->queue[i]->key == key;
	if (p->queued == BACKOFF_QUEUE || share >= BACKOFF_QUEUE_SHARE)
		return false;
	w = mem_alloc(1, sizeof(*w) + m->mapping.path.n + 1);
	*w = (struct place_waiting){ .key = key, .message = *m };
	w->path = (char *)(w + 1);
	if (m->mapping.path.n)
		memcpy(w->path, m->mapping.path.p, m->mapping.path.n);
	p->queue[p->queued++] = w;
	return true;
}

bool backoff_next(struct backoff *p, uint64_t now, struct keep_message *m, char path[KEEPRING_PATH + 1])
{
	for (size_t i = 0; i < p->queued; i++) {
		struct place_waiting *w = p->queue[i];

		if (!backoff_may(p, w->key, now))
			continue;
		*m = w->message;
		memcpy(path, w->path, m->mapping.path.n);
		path[m->mapping.path.n] = 0;
		m->mapping.path.p = path;
		memmove(p->queue + i, p->queue + i + 1, (p->queued - i - 1) * sizeof(struct place_waiting *));
		p->queued--;
		free(w);
		return true;
	}
	return false;
}

void backoff_free(struct backoff *p)
{
	while (p->queued)
		free(p->queue[--p->queued]);
}
