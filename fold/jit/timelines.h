/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timelines.h - finds the code timelines of pjmap for a recording: DIR/maps/BOOT/PID-START.jmap.
 *
 * Boot and process must match. A window of pjrecord contains its boot and the start times of its processes. Any other
 * recording must be from the current boot; a timeline is then used only if no other timeline has its pid.
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

/* Cache of the timelines for one recording. A timeline is opened at the first lookup of its process. */
struct timelines {
	/* Descriptor of the directory with the timelines; -1: there is no such directory. */
	int dir;
	const struct symstore *symstore;
	/* Boot id of the recording: from the window of pjrecord, or the current boot id if the recording is from the
	 * current boot. Empty if the boot is unknown: then no timeline is used. */
	char boot[BOOT_ID + 1];
	/* Processes that were looked up, sorted by pid. */
	struct timelines_one {
		uint32_t pid;
		/* Timeline of the process; NULL: the process has no usable timeline. */
		struct timeline *t;
	} * one;
	size_t n, cap;
	/* Number of timelines opened. */
	uint64_t found;
	/* Number of code blobs that pjmap could not read or name, summed over the opened timelines. */
	uint64_t left_out;
	struct input_errors errors;
};

/* Opens the directory with the timelines: `maps`, the argument of --maps; if `maps` is NULL, the directory "maps"
 * beside the symbol store. Dies if `maps` cannot be opened. `symstore` must stay valid until timelines_close(). */
void timelines_open(struct timelines *timelines, const char *maps, const struct symstore *symstore,
		    const struct provenance *origin);

/* Returns the timeline of process `pid`, and opens it at the first call; NULL if the process has no usable timeline.
 * The result is valid until timelines_close(). */
struct timeline *timelines_of(struct timelines *timelines, uint32_t pid);

/* Frees all timelines, and closes the directory. */
void timelines_close(struct timelines *timelines);

#endif
