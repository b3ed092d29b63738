/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rescue.h - a window whose writer was killed, made whole: what its records say is kept, what is cut is cut off.
 *
 * Such a file has its features in front of the data (common/formats/pjsection.h), no bits of features in its header
 * and, at its end, part of a record, of its table or, after a power failure, zeros. Bytes are hostile: nothing is
 * believed that was not checked.
 */
#ifndef PJ_RESCUE_H
#define PJ_RESCUE_H

#include "common/formats/pjsection.h"

/* What a window holds, as its samples tell. */
struct rescued {
	uint64_t samples, processes;
};

/* Walks the records to the last whole one, truncates, writes the complete table of features and then the header, so
 * that a kill in between leaves what can be rescued again. fd is open for reading and writing and locked; not synced
 * here. False: why says what is wrong; with samples it could not be written (a full disk), and another attempt may do;
 * else it never will. */
bool chunk_rescue(int fd, struct rescued *rescued, const char **why);

/* The item of that type in the feature START or END of such a file, finished or not: its first bytes, up to n, and how
 * many there are; 0: none, or no such file. */
size_t chunk_item(int fd, unsigned feature, uint32_t type, void *to, size_t n);

/* Of the first and the last sample of a complete file, as its features say. */
bool chunk_times(int fd, uint64_t *first, uint64_t *last);

#endif
