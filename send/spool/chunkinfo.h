/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunkinfo.h - reads the properties of a window that pjrecord writes before the samples: boot, time span, number of
 * events.
 *
 * Boot and time span are in a section of the perf.data file before its sample data (pjsection.h), the events in the
 * file's attributes, so a file of any size needs a few small reads.
 */
#ifndef PJ_CHUNKINFO_H
#define PJ_CHUNKINFO_H

#include "common/filter/boot.h"

/* The properties of a recorded window. */
struct chunkinfo {
	/* true if the file is a perf.data file */
	bool perf;
	/* boot id of the kernel that recorded the window; empty: unknown */
	char boot[BOOT_ID + 1];
	/* planned time span, in ns of that boot's CLOCK_MONOTONIC; both 0: unknown */
	uint64_t begin, end;
	/* number of sampled events, not counting dummy events, which only deliver side-band records */
	unsigned events;
};

/* Fills *chunkinfo from an open file, whose content is untrusted. Sets members that cannot be read to 0. Does not move
 * the file offset. */
void chunkinfo_read(struct chunkinfo *chunkinfo, int fd);

#endif
