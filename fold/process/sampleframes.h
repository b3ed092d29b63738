/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampleframes.h - the frames of a sample of perf.data, as locations: from its callchain, its stack copy, or both.
 *
 * They are added to the open sample (samples.h), leaf first. The last one is the end of the stack, if it is known, or a
 * mark that a limit may have truncated the callchain (enum stack_end).
 */
#ifndef PJ_SAMPLEFRAMES_H
#define PJ_SAMPLEFRAMES_H

#include "fold/process/callchain.h"
#include "fold/process/copiedstack.h"

/* Default of sysctl kernel.perf_event_max_stack: maximum number of addresses of a callchain. The sysctl may be larger.
 */
#define SAMPLEFRAMES_LIMIT 127

/* State of the recording that the frames are made from; the caller owns all of it. */
struct sampleframes {
	struct samples *samples; /* has the open sample */
	struct locations *locations;
	struct callchain *callchain;
	struct copiedstack *copied;
	struct addrspace *addrspace;
	const struct provenance *origin;
	struct perfdata *data;
	/* Make the stacks that perf script prints: without the ends that pjrecord found. */
	bool as_perf;
};

/* Returns true if the sample has what a stack walk needs: user registers and a stack copy. */
bool sampleframes_walks(const struct perfdata_record *record);

/* Adds the frames of a sample of `thread` to the open sample. */
void sampleframes_push(struct sampleframes *frames, const struct addrspace_thread *thread,
		       const struct perfdata_record *record);

/* Adds a location, which is a frame or the end of the stack, to the open sample. */
void sampleframes_location(struct sampleframes *frames, struct location location);

/* Marks the open sample as possibly truncated if its callchain of n addresses has as many as its event or, without a
 * limit of the event, the kernel allows. `event` is NULL if it is unknown. */
void sampleframes_limit(struct sampleframes *frames, const struct perfdata_event *event, const uint64_t *ips,
			uint64_t n);

#endif
