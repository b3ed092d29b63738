/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunkinfo.h - reads the properties that pjrecord writes in front of the samples of a window: boot, time span, number
 * of events.
 *
 * They are in a section in front of the data (pjsection.h), so reading them takes three small reads for a file of any
 * size.
 */
#ifndef PJ_CHUNKINFO_H
#define PJ_CHUNKINFO_H

#include "common/filter/boot.h"

/* The properties of a window. */
struct chunkinfo {
	/* true: the file is a perf.data file */
	bool perf;
	/* boot id of the kernel that recorded the window; empty: unknown */
	char boot[BOOT_ID + 1];
	/* planned time span in ns of CLOCK_MONOTONIC of that boot; 0, 0: unknown */
	uint64_t begin, end;
	/* number of sampled events, without those that only deliver side-band records */
	unsigned events;
};

/* Fills *chunkinfo from an open file, which is untrusted; members that cannot be read are 0. Does not move the file
 * offset. */
void chunkinfo_read(struct chunkinfo *chunkinfo, int fd);

#endif
