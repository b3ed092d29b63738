/* SPDX-License-Identifier: Apache-2.0 */
/*
 * saverqueue.h - bounded queue of recorder messages whose place of files is in backoff (backoff.h).
 */
#ifndef PJ_SAVERQUEUE_H
#define PJ_SAVERQUEUE_H

#include "common/process/backoff.h"
#include "record/symsaver/saverring.h"

#define SAVERQUEUE_MAX 1024      /* messages, of all places */
#define SAVERQUEUE_PLACE_MAX 256 /* of one place */

struct saverqueue {
	struct queued_message {
		uint64_t place;
		struct saver_message message;
		char *path;
	} * message[SAVERQUEUE_MAX];
	size_t n;
};

/* Adds a copy of a message. Returns false if the queue, or the share of its place, is full. */
bool saverqueue_add(struct saverqueue *saverqueue, uint64_t place, const struct saver_message *message);

/* Removes the first message whose place is not in backoff, and copies its path to path. Returns false if there is none.
 */
bool saverqueue_next(struct saverqueue *saverqueue, const struct backoff *backoff, uint64_t now,
		     struct saver_message *message, char path[SAVERRING_PATH + 1]);

void saverqueue_free(struct saverqueue *saverqueue);

#endif
