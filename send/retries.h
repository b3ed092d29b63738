/* SPDX-License-Identifier: Apache-2.0 */
/*
 * retries.h - carries the counts of indeterminate attempts from one run to the next, in the file spool/doubts.
 *
 * With --once each attempt is a run of its own, and ten runs must count as ten attempts. The file has one line for each
 * such window, is replaced atomically, and does not exist if there is no such window. Only the process that holds the
 * lock of the spool writes it. A file that cannot be read counts as absent: then the retries only take longer.
 */
#ifndef PJ_RETRIES_H
#define PJ_RETRIES_H

#include "send/spool/spool.h"

/* The state of one window with indeterminate attempts, as in a line of spool/doubts. */
struct retry {
	struct spool_name name;
	/* number of indeterminate attempts so far, in all runs */
	uint64_t retries;
	/* time of the first attempt in s since 1970 */
	uint64_t since;
	/* true: the store accepted other windows since the first attempt */
	bool others;
};

/* Sets *list to the windows in the file, in the order in which they were written; the caller frees it with free().
 * Lines that cannot be parsed are skipped; without a readable file *n is 0. */
void retries_read(const struct spool *spool, struct retry **list, size_t *n);
/* Replaces the file with list, or removes it if n is 0. Returns false and errno on failure. */
bool retries_write(const struct spool *spool, const struct retry *list, size_t n);

#endif
