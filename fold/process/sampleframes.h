/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampleframes.h - the frames of a sample of perf.data, as locations: from its callchain, its stack copy, or both.
 *
 * The module adds the frames to the open sample (samples.h), leaf first. The last location is no frame but the end of
 * the stack (enum stack_end), if the end is known or a limit may have truncated the callchain.
 */
#ifndef PJ_SAMPLEFRAMES_H
#define PJ_SAMPLEFRAMES_H

#include "fold/process/callchain.h"
#include "fold/process/copiedstack.h"

/* Default of sysctl kernel.perf_event_max_stack: maximum number of addresses of a callchain. The sysctl may be larger.
 */
#define SAMPLEFRAMES_LIMIT 127

/* State of the recording from which frames are made; the caller owns all of it. */
struct sampleframes {
	struct samples *samples; /* call tree; frames are added to its open sample */
	struct locations *locations;
	struct callchain *callchain;
	struct copiedstack *copied;
	struct addrspace *addrspace;
	const struct provenance *origin;
	struct perfdata *data;
	/* True: make the stacks that perf script prints, without the ends of stacks that pjrecord recorded. */
	bool as_perf;
};

/* Returns true if the sample has user registers and a stack copy, so that its stack can be walked; otherwise false. */
bool sampleframes_walks(const struct perfdata_record *record);

/* Adds the frames of a sample of `thread` to the open sample. */
void sampleframes_push(struct sampleframes *frames, const struct addrspace_thread *thread,
		       const struct perfdata_record *record);

/* Adds a location, which is a frame or the end of the stack, to the open sample. */
void sampleframes_location(struct sampleframes *frames, struct location location);

/* Adds STACK_EVENT_LIMIT to the open sample if its callchain ips[0..n) has at least as many addresses as the event
 * allows. If the event has no limit, adds STACK_KERNEL_LIMIT if the callchain has at least as many addresses as the
 * kernel allows: by the recording (recorder.max_stack), otherwise by default. `event` is NULL if it is unknown. */
void sampleframes_limit(struct sampleframes *frames, const struct perfdata_event *event, const uint64_t *ips,
			uint64_t n);

#endif
