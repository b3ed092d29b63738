/* SPDX-License-Identifier: Apache-2.0 */
/*
 * epochs.h - the names that windows have had, so that none is used twice.
 *
 * The name of a window is the second at which it begins. After a suspend, after the clock was set back, or with two
 * runs at once, that second may be the name of an earlier window, which may have been sent and removed long ago. So
 * used seconds are stored as a few ranges: normally there is one, which grows; a clock that was years ahead for a while
 * adds another. All numbers of a range count as used; the next free one follows it.
 */
#ifndef PJ_EPOCHS_H
#define PJ_EPOCHS_H

#include "common/text.h"

#define EPOCHS_RANGES 64 /* number of ranges; for one more, the two closest ranges are joined */

struct epochs {
	struct epochs_range {
		uint64_t from, to; /* first and last used second, both in the range */
	} range[EPOCHS_RANGES + 1];
	size_t n; /* number of ranges, which are sorted and disjoint */
};

/* Returns `wanted` if that second is free, else the next free one, and marks it as used. */
uint64_t epochs_take(struct epochs *epochs, uint64_t wanted);

/* Marks a second as used. */
void epochs_used(struct epochs *epochs, uint64_t epoch);

/* epochs_parse replaces the ranges by those in text; it skips other lines. epochs_text appends the ranges to text. */
void epochs_parse(struct epochs *epochs, struct str text);
void epochs_text(const struct epochs *epochs, struct text *text);

/* Takes a free second as epochs_take does, from the ranges in the file of descriptor fd, under its lock. Returns false
 * and errno on failure; then *epoch must not be used. */
bool epochs_take_from(int fd, uint64_t wanted, uint64_t *epoch);

/* Adds the ranges of epochs to those in the file of descriptor fd, under its lock. Returns false and sets errno on
 * failure. */
bool epochs_add_to(int fd, const struct epochs *epochs);

#endif
