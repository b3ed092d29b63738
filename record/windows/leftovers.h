/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leftovers.h - cleans DIR after killed runs: removes temporary files, and rescues windows or moves them to bad/.
 *
 * A running recorder holds the lock of each of its windows in recording/. So its files are never touched, however old
 * they are.
 */
#ifndef PJ_LEFTOVERS_H
#define PJ_LEFTOVERS_H

#include "record/windows/metrics.h"
#include "record/windows/rescue.h"
#include "record/windows/windir.h"

/* Removes the temporary files (.*.tmp) that no process has locked, in recording/, out/, bad/ and DIR itself. */
void leftovers_sweep(const struct windir *windir);

struct leftovers {
	const struct windir *windir;
	struct metrics *metrics;
	/* Called for each rescued window, to move it to out/. fd: descriptor of the window, which is synced and locked
	 * through fd. Returns true if the window was moved, false if it stays in recording/. */
	bool (*rescued)(void *arg, int fd, uint64_t epoch, const struct rescued *rescued);
	void *arg;
};

/* Rescues each unlocked window in recording/. Moves a window to bad/ if it has no sample or its header is damaged, and
 * writes the reason to bad/E.data.why. A window that cannot be written now stays in recording/. Adds the number of
 * windows moved to bad/ to metrics->bad; the callback `rescued` counts the rescued windows. */
void leftovers_rescue(const struct leftovers *leftovers);

#endif
