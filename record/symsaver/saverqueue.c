/* SPDX-License-Identifier: Apache-2.0 */
#include "record/symsaver/saverqueue.h"

#include "common/arena.h"

#include <stdlib.h>

bool saverqueue_add(struct saverqueue *q, uint64_t place, const struct saver_message *m)
{
	struct queued_message *w;
	size_t same = 0;

	for (size_t i = 0; i < q->n; i++)
		same += q->message[i]->place == place;
	if (q->n == SAVERQUEUE_MAX || same >= SAVERQUEUE_PLACE_MAX)
		return false;
	w = mem_alloc(1, sizeof(*w) + m->mapping.path.n + 1);
	*w = (struct queued_message){ .place = place, .message = *m };
	w->path = (char *)(w + 1);
	if (m->mapping.path.n)
		memcpy(w->path, m->mapping.path.p, m->mapping.path.n);
	q->message[q->n++] = w;
	return true;
}

bool saverqueue_next(struct saverqueue *q, const struct backoff *b, uint64_t now, struct saver_message *m,
		     char path[SAVERRING_PATH + 1])
{
	for (size_t i = 0; i < q->n; i++) {
		struct queued_message *w = q->message[i];

		if (backoff_rests(b, w->place, now))
			continue;
		*m = w->message;
		memcpy(path, w->path, m->mapping.path.n);
		path[m->mapping.path.n] = 0;
		m->mapping.path.p = path;
		memmove(q->message + i, q->message + i + 1, (q->n - i - 1) * sizeof(struct queued_message *));
		q->n--;
		free(w);
		return true;
	}
	return false;
}

void saverqueue_free(struct saverqueue *q)
{
	while (q->n)
		free(q->message[--q->n]);
}
