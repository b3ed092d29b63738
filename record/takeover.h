/* SPDX-License-Identifier: Apache-2.0 */
/*
 * takeover.h - one recorder for a directory: refuses to run beside another one, or replaces it.
 *
 * Order of calls: takeover_begin after privileges are dropped, takeover_tick while the session records,
 * takeover_release when its last window has ended. The session requests the end of the other recorder
 * (session_options.replaced); until that has released its lock, both run, and each sample belongs to the windows of one
 * of them by its time.
 */
#ifndef PJ_TAKEOVER_H
#define PJ_TAKEOVER_H

#include "record/recordopts.h"
#include "record/windows/recorderlock.h"

struct takeover {
	/* The first member is for session_options. */
	struct recorderlock lock;
	/* the directory, as the user named it */
	const char *dir;
	/* ms; when takeover_begin was called */
	uint64_t begin_ms;
	/* this recorder has the lock; a message has named the one that has not ended yet */
	bool held, reported;
};

/* Takes the lock of the directory; with --replace, another recorder may still hold it. Ends the process with a message
 * if another recorder holds it otherwise. */
void takeover_begin(struct takeover *takeover, const struct request *request);

/* Takes the lock once the replaced recorder has released it. */
void takeover_tick(struct takeover *takeover);

/* Releases the lock: the caller will write no further window. */
void takeover_release(struct takeover *takeover);

#endif
