/* SPDX-License-Identifier: Apache-2.0 */
/*
 * retries.h - which windows a store could not decide about, from one run to the next: spool/doubts.
 *
 * With --once each attempt is a run of its own; ten of them must count as ten. A line a window, replaced whole; no
 * file: none. Only who holds the lock of the spool writes it. A file that cannot be read is as none: it only takes
 * longer then.
 */
#ifndef PJ_RETRIES_H
#define PJ_RETRIES_H

#include "send/spool/spool.h"

struct retry {
	struct spool_name name;
	uint64_t retries;
	uint64_t since; /* seconds since 1970: the first attempt */
	bool others;    /* the store took other windows since */
};

void retries_read(const struct spool *spool, struct retry **list, size_t *n);      /* freed with free */
bool retries_write(const struct spool *spool, const struct retry *list, size_t n); /* false: errno */

#endif
