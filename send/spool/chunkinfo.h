/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunkinfo.h - what a window of pjrecord says of itself in front of its samples: which boot, from when to when, how
 * many events.
 *
 * Read from the table that stands in front of the data (pjsection.h), so a glance costs three small reads whatever the
 * file's size.
 */
#ifndef PJ_CHUNKINFO_H
#define PJ_CHUNKINFO_H

#include "common/filter/boot.h"

struct chunkinfo {
	bool perf;              /* it is a perf.data file at all */
	char boot[BOOT_ID + 1]; /* empty: it does not say */
	uint64_t begin, end;    /* CLOCK_MONOTONIC of that boot, ns, as planned; 0, 0: it does not say */
	unsigned events;        /* without those that only carry side-band records */
};

void chunkinfo_read(struct chunkinfo *chunkinfo, int fd);

#endif
