/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leftovers.h - cleans DIR after killed runs: removes temporary files, rescues windows or moves them to bad/.
 *
 * A run holds the lock of its window in recording/, so files of living runs are never touched, whatever their age.
 */
#ifndef PJ_LEFTOVERS_H
#define PJ_LEFTOVERS_H

#include "record/windows/metrics.h"
#include "record/windows/rescue.h"
#include "record/windows/windir.h"

/* Removes temporary files in DIR and its folders that no process holds. */
void leftovers_sweep(const struct windir *windir);

struct leftovers {
	const struct windir *windir;
	struct metrics *metrics;
	/* Called for each rescued window, which is synced and whose descriptor fd holds the lock, to move it to out/.
	 * Returns false if the window stays in recording/. */
	bool (*rescued)(void *arg, int fd, uint64_t epoch, const struct rescued *rescued);
	void *arg;
};

/* Rescues each unlocked window in recording/. One without samples goes to bad/ with its reason; one that cannot be
 * rescued now stays. Counts both in metrics. */
void leftovers_rescue(const struct leftovers *leftovers);

#endif
