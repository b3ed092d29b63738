/* SPDX-License-Identifier: Apache-2.0 */
/*
 * epochs.h - which names windows ever had, so that none is used again.
 *
 * A window is named by the second it begins at. After suspend, when the clock was set back, or with two runs at once,
 * that second may have been used, by a window that was sent and removed long ago. So what was used is kept, as a few
 * ranges: while the clock goes on there is one, and it grows; a clock that was years ahead for a while leaves one of
 * its own there. Within a range every number counts as used, and the next free one is behind it.
 */
#ifndef PJ_EPOCHS_H
#define PJ_EPOCHS_H

#include "common/text.h"

#define EPOCHS_RANGES 64 /* when there are more, the two closest become one */

struct epochs {
	struct epochs_range {
		uint64_t from, to; /* inclusive */
	} range[EPOCHS_RANGES + 1];
	size_t n; /* sorted, apart from each other */
};

uint64_t epochs_take(struct epochs *epochs, uint64_t wanted); /* it, or the next that is free; used from now on */
void epochs_used(struct epochs *epochs, uint64_t epoch);      /* somebody has it */

void epochs_parse(struct epochs *epochs, struct str text); /* what is no range is passed over */
void epochs_text(const struct epochs *epochs, struct text *text);

/* As epochs_take, in the file of descriptor fd, under its lock. False: errno says why, and *epoch may not be used. */
bool epochs_take_from(int fd, uint64_t wanted, uint64_t *epoch);

/* Adds to that file what is used according to epochs. */
bool epochs_add_to(int fd, const struct epochs *epochs);

#endif
