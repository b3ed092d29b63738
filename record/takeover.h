/* SPDX-License-Identifier: Apache-2.0 */
/*
 * takeover.h - ensures that one recorder writes to a directory: refuses to run beside another one, or replaces it.
 *
 * Order of calls: takeover_begin after privileges are dropped, takeover_tick while the session records,
 * takeover_release when its last window has ended. The session requests the end of the other recorder
 * (session_options.replaced). Until the other recorder has released its lock, both run. A sample before the planned end
 * is in the window of the other recorder, a later one in that of this recorder.
 */
#ifndef PJ_TAKEOVER_H
#define PJ_TAKEOVER_H

#include "record/recordopts.h"
#include "record/windows/recorderlock.h"

struct takeover {
	/* lock of the directory; the session uses it, too, through session_options.replaced */
	struct recorderlock lock;
	/* path of the directory as the user gave it */
	const char *dir;
	/* time in ms (clock_now_ms) of the call of takeover_begin */
	uint64_t begin_ms;
	/* held: true: this recorder has the lock, or locks do not work. reported: true: a message has named the
	 * recorder that has not ended yet. */
	bool held, reported;
};

/* Takes the lock of the directory. Exits with a message if another recorder holds the lock. With --replace, exits only
 * if another recorder awaits the lock, too; otherwise takeover_tick takes the lock later. If locks do not work, warns
 * and continues. */
void takeover_begin(struct takeover *takeover, const struct request *request);

/* Takes the lock once the replaced recorder has released it. Prints a message if that takes longer than REPORT_MS. */
void takeover_tick(struct takeover *takeover);

/* Releases the lock. The caller must not write further windows. */
void takeover_release(struct takeover *takeover);

#endif
