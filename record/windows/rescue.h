/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rescue.h - completes a window whose writer was killed: keeps its complete records and removes the incomplete end.
 *
 * The file of such a window has its features before the data (common/formats/pjsection.h) and no feature bits in its
 * header. It ends in a part of a record or of its table of features or, after a power failure, in zeros. Its bytes are
 * hostile input: each is checked before use.
 */
#ifndef PJ_RESCUE_H
#define PJ_RESCUE_H

#include "common/formats/pjsection.h"

/* samples: number of samples in a rescued window. processes: number of processes with samples; 0 if records hold no
 * pid. */
struct rescued {
	uint64_t samples, processes;
};

/* Completes a window. Reads the records up to the last complete one, truncates the file after it, and writes the table
 * of features, then the header. In this order a second rescue is possible if this one is killed. fd: descriptor of the
 * window, open for reading and writing, locked; the caller syncs it. On failure returns false and sets *why to a text
 * that the caller does not free. Then rescued->samples > 0 means that the file could not be written (full disk), and a
 * later attempt may succeed. With 0 samples no attempt can succeed. */
bool chunk_rescue(int fd, struct rescued *rescued, const char **why);

/* Copies to `to` the item of this type in the feature START or END of a complete or incomplete window, at most its
 * first n bytes. Returns the number of copied bytes; 0 if the feature or the item does not exist, or reading fails. */
size_t chunk_item(int fd, unsigned feature, uint32_t type, void *to, size_t n);

/* Sets *first and *last to the times of the first and last sample of a complete window, in ns of the samples' clock,
 * from the window's features. Returns false without setting them if the window has no such feature. */
bool chunk_times(int fd, uint64_t *first, uint64_t *last);

#endif
