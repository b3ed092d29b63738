/* SPDX-License-Identifier: Apache-2.0 */
/*
 * saverqueue.h - bounded queue of the recorder's messages about files whose fault domain is in backoff (backoff.h).
 */
#ifndef PJ_SAVERQUEUE_H
#define PJ_SAVERQUEUE_H

#include "common/process/backoff.h"
#include "record/symsaver/saverring.h"

#define SAVERQUEUE_MAX 1024      /* maximum number of messages, of all fault domains */
#define SAVERQUEUE_PLACE_MAX 256 /* maximum number of messages of one fault domain */

struct saverqueue {
	struct queued_message {
		uint64_t place;
		struct saver_message message;
		char *path;
	} * message[SAVERQUEUE_MAX];
	size_t n;
};

/* Adds a copy of a message whose fault domain is `place`. Returns false if the queue is full, or if that fault domain
 * has SAVERQUEUE_PLACE_MAX messages. */
bool saverqueue_add(struct saverqueue *saverqueue, uint64_t place, const struct saver_message *message);

/* Removes the first message whose fault domain is not in backoff into *message, and copies its path to `path`. Returns
 * false if there is none. */
bool saverqueue_next(struct saverqueue *saverqueue, const struct backoff *backoff, uint64_t now,
		     struct saver_message *message, char path[SAVERRING_PATH + 1]);

void saverqueue_free(struct saverqueue *saverqueue);

#endif
