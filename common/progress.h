/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress.h - a line on the terminal while long work goes on.
 *
 * Shows bytes, share and rate when stderr is a terminal and the work takes longer than half a second; silent
 * otherwise. progress_end wipes the line, so that messages stand alone.
 */
#ifndef PJ_PROGRESS_H
#define PJ_PROGRESS_H

#include "common/base.h"

struct progress {
	uint64_t total; /* bytes, or 0 when not known */
	uint64_t start_ns;
	uint64_t shown_ns;
	bool on;
	bool drawn;
};

void progress_begin(struct progress *progress, uint64_t total);
void progress_at(struct progress *progress, uint64_t done); /* cheap; draws at most ten times a second */
void progress_end(struct progress *progress);

#endif
