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

/* Returns true if the frame at node `id` of quality->from is a first frame. The leaf frame of a wall-clock profile is
 * no location, either. */
static inline bool is_first_frame(const struct stack_quality *quality, uint32_t id)
{
	uint32_t parent = quality->from->node[id].parent;

	return !parent || quality->front[parent];
}

/* Adds the results to `tally`. Adds the number of frames, and that of frames without a name, to samples->tally. */
void stackquality_measure(const struct stack_quality *quality, struct recording_tally *tally, struct samples *samples);

#endif
