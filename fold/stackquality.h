/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stackquality.h - how complete the stacks of a recording are, and what of them has no names, by first frame and by
 * DSO.
 *
 * One walk through the tree of sites, when they have their names. quality.h shows what comes of it.
 */
#ifndef PJ_STACKQUALITY_H
#define PJ_STACKQUALITY_H

#include "fold/recording.h"
#include "fold/resolve.h"

struct stack_quality {
	const struct addrspace *as;
	const struct locations *locations;
	const struct stacks *from; /* of sites; column 1 counts samples */
	const bool *front;         /* by its nodes: frames in front of all others, which are no first frames */
	const struct resolved *names;
	const struct stacks *to; /* whose frames these names are */
};

/* Adds to tally and to the counts of frames in p. */
void stackquality_measure(const struct stack_quality *quality, struct recording_tally *tally, struct samples *samples);

#endif
