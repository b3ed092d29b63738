/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leftovers.h - what runs that were killed left in DIR: temporaries are swept, windows are rescued or go to bad/.
 *
 * A window in recording/ belongs to a run as long as that holds its lock, so leftovers of runs that live are left
 * alone, however old they are.
 */
#ifndef PJ_LEFTOVERS_H
#define PJ_LEFTOVERS_H

#include "record/windows/metrics.h"
#include "record/windows/rescue.h"
#include "record/windows/windir.h"

void leftovers_sweep(const struct windir *windir);

struct leftovers {
	const struct windir *windir;
	struct metrics *metrics;
	/* Called for each window that was rescued: under the lock of fd, synced. False: it could not be moved, and
	 * stays. */
	bool (*rescued)(void *arg, int fd, uint64_t epoch, const struct rescued *rescued);
	void *arg;
};

void leftovers_rescue(const struct leftovers *leftovers);

#endif
