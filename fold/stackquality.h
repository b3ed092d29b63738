/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stackquality.h - measures the quality of a recording: the completeness of its stacks by first frame, and its frames
 * without names by DSO.
 *
 * It walks once through the tree of locations, after these have their names. quality.h prints the result.
 */
#ifndef PJ_STACKQUALITY_H
#define PJ_STACKQUALITY_H

#include "fold/recording.h"
#include "fold/resolve.h"

/* Input of stackquality_measure(): trees, locations and their names. */
struct stack_quality {
	const struct addrspace *as;
	const struct locations *locations;
	/* Tree of locations. Column 0 has the weights of the samples, column 1 their number. */
	const struct stacks *from;
	/* By node of `from`: true if the frame is the one of --time-slice or --by, outside of the first frame. */
	const bool *front;
	const struct resolved *names;
	/* Tree of names; it contains the frames to which `names` refers. */
	const struct stacks *to;
	/* Unwind tables, and what their files are found by. */
	struct copiedstack *copied;
	const struct provenance *origin;
	const struct perfdata *data;
	/* By location: is_kept, plus 1; 0: not looked up yet. */
	uint8_t *kept;
};

/* Adds the results to `tally`. Adds the number of frames, and that of frames without a name, to samples->tally. */
void stackquality_measure(const struct stack_quality *quality, struct recording_tally *tally, struct samples *samples);

#endif
