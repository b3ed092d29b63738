/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timelines.h - the code timelines of pjmap that belong to a recording: DIR/maps/BOOT/PID-START.jmap.
 *
 * Process and boot must match. A window of pjrecord says when each of its processes began; of another recording the
 * boot must be this one, and a number that
 * two processes had names neither.
 */
#ifndef PJ_TIMELINES_H
#define PJ_TIMELINES_H

#include "fold/symbols/symstore.h"
#include "common/filter/boot.h"
#include "fold/samples/inputerrors.h"
#include "fold/symbols/provenance.h"
#include "fold/jit/timeline.h"

struct timelines {
	int dir; /* maps; -1: there is none */
	const struct symstore *symstore;
	char boot[BOOT_ID + 1]; /* of a recording that is not pjrecord's; empty: not known */
	struct timelines_one {
		uint32_t pid;
		struct timeline *t; /* NULL: there is none */
	} * one;                    /* by pid */
	size_t n, cap;
	uint64_t found;    /* files */
	uint64_t left_out; /* pieces of code that they do not tell of */
	struct input_errors errors;
};

/* maps: the folder as the user says, or NULL: beside the window. Dies when it was named and is no folder. */
void timelines_open(struct timelines *timelines, const char *maps, const struct symstore *symstore,
		    const struct provenance *origin);

/* Of a process, opened when it is asked for first; NULL: there is none. */
struct timeline *timelines_of(struct timelines *timelines, uint32_t pid);

void timelines_close(struct timelines *timelines);

#endif
