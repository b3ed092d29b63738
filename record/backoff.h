/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backoff.h - limits the time that the keeper waits for the files of one place.
 *
 * A place is a set of files that one server or one tenant can make slow: those of a tenant (tenants.h), in the recorder's own mount
 * namespace those of a tenant on one device. Each place may block the keeper for a quarter of the time, and for BACKOFF_BURST_NS at once.
 * One that did more rests until that is true again; meanwhile the keeper serves all other places, and messages of this one wait in a queue
 * with limits (of one place, and in total). So a FUSE server that delays each answer does not delay the symbols of everybody else.
 * Only blocked time counts: a loaded machine, on which the keeper waits for a CPU, slows no place down.
 *
 * Pure but for the clock of the caller.
 */
#ifndef PJ_BACKOFF_H
#define PJ_BACKOFF_H

#include "keepring.h"
#include "tenants.h"

#define BACKOFF_MAX 64
#define BACKOFF_BURST_NS UINT64_C(1000000000)
#define BACKOFF_SHARE 4         /* 1/4 of the time */
#define BACKOFF_DEBT_NS UINT64_C(60000000000) /* at most */
#define BACKOFF_QUEUE 1024      /* messages that wait, of all places */
#define BACKOFF_QUEUE_SHARE 256 /* of one place */

struct backoff {
	struct place_debt {
		uint64_t key, ns, at; /* key 0: free; blocked time that is not paid off yet, as of `at` */
	} debt[BACKOFF_MAX];
	struct place_waiting {
		uint64_t key;
		struct keep_message message;
		char *path;
	} *queue[BACKOFF_QUEUE];
	size_t queued;
};

/* Which place files of a process are in; device: st_dev, 0 in other mount namespaces than ours. Never 0. */
uint64_t backoff_place(const struct tenant *of, uint64_t device);

/* False while the place rests. */
bool backoff_may(const struct backoff *p, uint64_t key, uint64_t now);

/* The keeper was blocked in files of that place for so long. */
void backoff_charge(struct backoff *p, uint64_t key, uint64_t blocked_ns, uint64_t now);

/* Keeps a copy of a message until its place has rested; false: the queue, or the share of its place, is full. */
bool backoff_defer(struct backoff *p, uint64_t key, const struct keep_message *m);

/* Takes out a message whose place has rested; its path in path. False: there is none. */
bool backoff_next(struct backoff *p, uint64_t now, struct keep_message *m, char path[KEEPRING_PATH + 1]);

void backoff_free(struct backoff *p);

#endif
