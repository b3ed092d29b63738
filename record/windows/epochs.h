/* SPDX-License-Identifier: Apache-2.0 */
/*
 * epochs.h - records which names windows have had, so that no name is used twice.
 *
 * The name of a window is the second at which it begins. That second may already be the name of an earlier window:
 * after a suspend, after the clock was set back, or if two runs record at once. The earlier window may have been sent
 * and removed long ago. So the used seconds are stored, as a few ranges. Normally one range exists, and grows. A clock
 * that was years ahead for a while adds another range. All seconds of a range count as used; the next free one is the
 * second after the range.
 */
#ifndef PJ_EPOCHS_H
#define PJ_EPOCHS_H

#include "common/text.h"

/* maximum number of ranges; if one more is added, the two closest ranges are joined */
#define EPOCHS_RANGES 64

struct epochs {
	struct epochs_range {
		uint64_t from, to; /* first and last used second of the range, inclusive; s since 1970 */
	} range[EPOCHS_RANGES + 1];
	size_t n; /* number of ranges, which are sorted and disjoint */
};

/* Returns the second `wanted` (s since 1970) if it is free, otherwise the next free second. Marks the returned second
 * as used. */
uint64_t epochs_take(struct epochs *epochs, uint64_t wanted);

/* Marks the second `epoch` (s since 1970) as used. If a range ends at most 300 s before it, marks the seconds between
 * them as used, too. */
void epochs_used(struct epochs *epochs, uint64_t epoch);

/* epochs_parse replaces the ranges by those in text, one range in a line, and skips malformed lines. epochs_text
 * appends the ranges to text in the same format. */
void epochs_parse(struct epochs *epochs, struct str text);
void epochs_text(const struct epochs *epochs, struct text *text);

/* Sets *epoch to the second `wanted` if it is free, otherwise to the next free second, and marks that second as used in
 * the file of ranges. fd: descriptor of that file, which the call locks. Returns false with errno on failure; then
 * *epoch must not be used, even if it was set. */
bool epochs_take_from(int fd, uint64_t wanted, uint64_t *epoch);

/* Marks the ranges of *epochs as used in the file of ranges. fd: descriptor of that file, which the call locks. Returns
 * false with errno on failure. */
bool epochs_add_to(int fd, const struct epochs *epochs);

#endif
