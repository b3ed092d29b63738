/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stackquality.h - measures the quality of a recording: completeness of its stacks by first frame, and unnamed frames
 * by DSO.
 *
 * One walk over the tree of locations computes both, after the locations got their names. quality.h prints the result.
 */
#ifndef PJ_STACKQUALITY_H
#define PJ_STACKQUALITY_H

#include "fold/recording.h"
#include "fold/resolve.h"

/* Input of stackquality_measure(): trees, locations and their names. */
struct stack_quality {
	const struct addrspace *as;
	const struct locations *locations;
	/* Call tree of locations. Column 0 of its weights has sums of sample weights, column 1 numbers of samples. */
	const struct stacks *from;
	/* By node of `from`: true if the node's frame comes from --time-slice or --by. */
	const bool *front;
	const struct resolved *names;
	/* Tree of names; it contains the frames to which `names` refers. */
	const struct stacks *to;
	/* copied: cache of unwind tables; the next two members are the provenance and the recording, by which the files
	 * with unwind tables are found. */
	struct copiedstack *copied;
	const struct provenance *origin;
	const struct perfdata *data;
	/* True if all samples are waits; false: a sample is a wait if its leaf frame is [blocked] or the like
	 * (stackquality_is_wait). */
	bool waits;
	/* By location: result of has_frame_pointer() plus 1; 0: not computed yet. */
	uint8_t *frame_pointer;
};

/* Returns true if node `id` of quality->from is a first frame: the name of a process or thread. Returns false for the
 * leaf frame that a wall-clock profile adds to a stack. The frame of the node must not be a location. */
static inline bool is_first_frame(const struct stack_quality *quality, uint32_t id)
{
	uint32_t parent = quality->from->node[id].parent;

	return !parent || quality->front[parent];
}

/* Returns true if samples that end at node `id` of quality->from are waits, times off the CPU; false if they are
 * samples on the CPU. */
bool stackquality_is_wait(const struct stack_quality *quality, uint32_t id);

/* Adds the completeness of stacks and the unnamed frames to `tally`, and the numbers of all frames and of unnamed
 * frames to samples->tally. */
void stackquality_measure(const struct stack_quality *quality, struct recording_tally *tally, struct samples *samples);

#endif
