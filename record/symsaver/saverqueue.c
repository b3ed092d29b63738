/* SPDX-License-Identifier: Apache-2.0 */
#include "record/symsaver/saverqueue.h"

#include "common/arena.h"

#include <stdlib.h>

bool saverqueue_add(struct saverqueue *saverqueue, uint64_t place, const struct saver_message *message)
{
	struct queued_message *w;
	size_t same = 0;

	for (size_t i = 0; i < saverqueue->n; i++)
		same += saverqueue->message[i]->place == place;
	if (saverqueue->n == SAVERQUEUE_MAX || same >= SAVERQUEUE_PLACE_MAX)
		return false;
	w = mem_alloc(1, sizeof(*w) + message->mapping.path.n + 1);
	*w = (struct queued_message){ .place = place, .message = *message };
	w->path = (char *)(w + 1);
	if (message->mapping.path.n)
		memcpy(w->path, message->mapping.path.p, message->mapping.path.n);
	saverqueue->message[saverqueue->n++] = w;
	return true;
}

bool saverqueue_next(struct saverqueue *saverqueue, const struct backoff *backoff, uint64_t now,
		     struct saver_message *message, char path[SAVERRING_PATH + 1])
{
	for (size_t i = 0; i < saverqueue->n; i++) {
		struct queued_message *w = saverqueue->message[i];

		if (backoff_rests(backoff, w->place, now))
			continue;
		*message = w->message;
		memcpy(path, w->path, message->mapping.path.n);
		path[message->mapping.path.n] = 0;
		message->mapping.path.p = path;
		memmove(saverqueue->message + i, saverqueue->message + i + 1,
			(saverqueue->n - i - 1) * sizeof(struct queued_message *));
		saverqueue->n--;
		free(w);
		return true;
	}
	return false;
}

void saverqueue_free(struct saverqueue *saverqueue)
{
	while (saverqueue->n)
		free(saverqueue->message[--saverqueue->n]);
}
