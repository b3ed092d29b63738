/* SPDX-License-Identifier: Apache-2.0 */
/*
 * saverqueue.h - bounded queue of the recorder's messages about files whose fault domain is in backoff (backoff.h).
 */
#ifndef PJ_SAVERQUEUE_H
#define PJ_SAVERQUEUE_H

#include "common/process/backoff.h"
#include "record/symsaver/saverring.h"

#define SAVERQUEUE_MAX 1024 /* maximum number of messages in the queue; a further one is refused */
/* maximum number of messages for one fault domain; a further one is refused */
#define SAVERQUEUE_PLACE_MAX 256

struct saverqueue {
	struct queued_message {
		/* fault domain (backoff.h) of the file of the message */
		uint64_t place;
		struct saver_message message;
		char *path;
	} * message[SAVERQUEUE_MAX];
	size_t n;
};

/* Adds a copy of a message whose file is in fault domain `place`. Returns false, without adding it, if the queue is
 * full or has SAVERQUEUE_PLACE_MAX messages for that fault domain. */
bool saverqueue_add(struct saverqueue *saverqueue, uint64_t place, const struct saver_message *message);

/* Takes from the queue the first message whose fault domain is not in backoff at time `now` (ns): moves it to *message,
 * and its path to `path`. Returns false if the queue has no such message. */
bool saverqueue_next(struct saverqueue *saverqueue, const struct backoff *backoff, uint64_t now,
		     struct saver_message *message, char path[SAVERRING_PATH + 1]);

void saverqueue_free(struct saverqueue *saverqueue);

#endif
