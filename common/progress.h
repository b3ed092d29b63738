/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress.h - shows the progress of long work in a line on the terminal.
 *
 * The line has bytes, percentage and rate. It appears only if stderr is a terminal and the work takes longer than half
 * a second. progress_end erases the line, so that it does not mix with messages.
 */
#ifndef PJ_PROGRESS_H
#define PJ_PROGRESS_H

#include "common/base.h"

struct progress {
	uint64_t total; /* size of the input in bytes; 0 if unknown */
	uint64_t start_ns;
	uint64_t shown_ns;
	bool on;
	bool drawn;
};

void progress_begin(struct progress *progress, uint64_t total);
/* Draws the line, at most ten times a second. `done` is the number of bytes processed so far. Calls in between are
 * cheap. */
void progress_at(struct progress *progress, uint64_t done);
void progress_end(struct progress *progress);

#endif
