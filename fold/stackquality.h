/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stackquality.h - measures the completeness of the stacks of a recording, and the frames without names, by first frame
 * and by DSO.
 *
 * It walks once through the tree of locations, after these have their names. quality.h prints the result.
 */
#ifndef PJ_STACKQUALITY_H
#define PJ_STACKQUALITY_H

#include "fold/recording.h"
#include "fold/resolve.h"

/* Input of the measurement. */
struct stack_quality {
	const struct addrspace *as;
	const struct locations *locations;
	/* Tree of locations; column 1 counts samples. */
	const struct stacks *from;
	/* By node of `from`: the frame is one of --time-slice or --by, outside of the first frame. */
	const bool *front;
	const struct resolved *names;
	/* The tree that contains the frames of `names`. */
	const struct stacks *to;
};

/* Adds the results to `tally`, and the numbers of frames, total and unresolved, to samples->tally. */
void stackquality_measure(const struct stack_quality *quality, struct recording_tally *tally, struct samples *samples);

#endif
