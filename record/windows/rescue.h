/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rescue.h - completes a window whose writer was killed: keeps its complete records, removes the incomplete end.
 *
 * Such a file has its features before the data (common/formats/pjsection.h), no feature bits in its header, and at its
 * end part of a record or of its table, or, after a power failure, zeros. Its bytes are hostile: each is checked before
 * use.
 */
#ifndef PJ_RESCUE_H
#define PJ_RESCUE_H

#include "common/formats/pjsection.h"

/* Number of samples in a rescued window, and of processes that they are from. */
struct rescued {
	uint64_t samples, processes;
};

/* Reads the records up to the last complete one, truncates the file, writes the complete table of features and then the
 * header, so that a file whose rescue is killed can be rescued again. fd is open for reading and writing and locked;
 * the caller syncs it. Returns false and *why (a static text) on failure: with rescued->samples > 0 the file could not
 * be written (a full disk) and a later attempt may succeed, otherwise none will. */
bool chunk_rescue(int fd, struct rescued *rescued, const char **why);

/* Copies up to n bytes of the item with this type in the feature START or END of a window, complete or not, to `to`.
 * Returns the number of bytes; 0 if there is no such item or file. */
size_t chunk_item(int fd, unsigned feature, uint32_t type, void *to, size_t n);

/* Sets the times in ns of the first and last sample of a complete window, from its features. Returns false if it has
 * none. */
bool chunk_times(int fd, uint64_t *first, uint64_t *last);

#endif
