/* SPDX-License-Identifier: Apache-2.0 */
/*
 * retries.h - stores the number of indeterminate attempts of each window between runs, in the file spool/doubts.
 *
 * With --once each attempt is a run of its own, and ten runs must be counted as ten attempts. The file has one line for
 * each window with indeterminate attempts and is replaced atomically; without such windows it does not exist. Only the
 * process that holds the lock of the spool writes it. An unreadable file is treated as absent: the counts then start at
 * 0 again, so that a poison window is only found later.
 */
#ifndef PJ_RETRIES_H
#define PJ_RETRIES_H

#include "send/spool/spool.h"

/* The retry state of one window with indeterminate attempts: one line of spool/doubts. */
struct retry {
	struct spool_name name;
	/* number of indeterminate attempts in all runs */
	uint64_t retries;
	/* time of the first attempt, in s since 1970 */
	uint64_t since;
	/* true if the store accepted other windows since this window's first attempt */
	bool others;
};

/* Reads spool/doubts into a new array *list of *n entries, in file order; the caller frees it by free(). Skips
 * malformed lines; sets *n to 0 if the file cannot be read. */
void retries_read(const struct spool *spool, struct retry **list, size_t *n);
/* Replaces spool/doubts by `list`, or removes it if n is 0. Returns false on failure, with errno. */
bool retries_write(const struct spool *spool, const struct retry *list, size_t n);

#endif
