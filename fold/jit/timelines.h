/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timelines.h - the code timelines of pjmap that belong to a recording: DIR/maps/BOOT/PID-START.jmap.
 *
 * Process and boot must match. A window of pjrecord contains the start time of its processes. For another recording the
 * boot must be the current one, and if two processes had a pid, none of their timelines is used.
 *
 *     timeline = timelines_of(&timelines, pid);
 *     code = timeline ? timeline_find(timeline, address, time, &sure) : NULL;
 */
#ifndef PJ_TIMELINES_H
#define PJ_TIMELINES_H

#include "fold/symbols/symstore.h"
#include "common/filter/boot.h"
#include "fold/samples/inputerrors.h"
#include "fold/symbols/provenance.h"
#include "fold/jvm/timeline.h"

/* Cache of the timelines of a recording: each is opened at the first lookup of its process. */
struct timelines {
	/* Directory with the timelines; -1: there is none. */
	int dir;
	const struct symstore *symstore;
	/* Boot id of the recording: from pjrecord's window, else that of this boot if the recording is from it. Empty
	 * if it is unknown. */
	char boot[BOOT_ID + 1];
	/* Processes that were looked up, sorted by pid. */
	struct timelines_one {
		uint32_t pid;
		/* Timeline of the process; NULL: it has none. */
		struct timeline *t;
	} * one;
	size_t n, cap;
	/* Number of timelines that were opened. */
	uint64_t found;
	/* Number of code blobs that pjmap could not read or name, summed over the opened timelines. */
	uint64_t left_out;
	struct input_errors errors;
};

/* Finds the directory: `maps`, the one of --maps, or NULL for the directory "maps" beside the window. Dies if `maps` is
 * given and is not a directory. `symstore` must stay valid until timelines_close(). */
void timelines_open(struct timelines *timelines, const char *maps, const struct symstore *symstore,
		    const struct provenance *origin);

/* Returns the timeline of a process, which is opened at the first call; NULL if there is none. The result is valid
 * until timelines_close(). */
struct timeline *timelines_of(struct timelines *timelines, uint32_t pid);

/* Frees all timelines. */
void timelines_close(struct timelines *timelines);

#endif
