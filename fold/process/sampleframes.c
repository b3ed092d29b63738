/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/process/sampleframes.h"

#include "common/formats/perfrecord.h"

void sampleframes_location(struct sampleframes *frames, struct location location)
{
	samples_push(frames->samples, locations_id(frames->locations, location) | LOCATION_BIT);
}

static enum stack_end end_of_walk(const struct walk *walk)
{
	switch (walk->end) {
	case UNWIND_ROOT: return STACK_COMPLETE;
	case UNWIND_UNKNOWN: return STACK_UNKNOWN;
	case UNWIND_MORE:
	case UNWIND_STACK_CUT: return STACK_COPY_CUT;
	case UNWIND_OTHER_STACK: return STACK_OTHER_STACK;
	default: return STACK_BROKEN;
	}
}

/* Unwinds a sample that has user registers and a stack copy. Adds the frames to the open sample, and returns the end of
 * the stack. */
static enum stack_end push_walked(struct sampleframes *frames, const struct addrspace_thread *thread,
				  const struct perfdata_record *record)
{
	const struct walk *walk = &frames->copied->walk;

	copiedstack_walk(frames->copied, frames->addrspace, thread, record, frames->origin, frames->data);
	for (size_t i = 0; i < walk->n; i++) {
		const struct walk_frame *frame = &walk->frame[i];

		if (frame->method)
			sampleframes_location(frames, location_of_method(thread->pid, frame->address));
		else
			callchain_push_ip(frames->callchain, thread, MODE_USER, walk_frame_lookup(frame), record->time);
	}
	return end_of_walk(walk);
}

void sampleframes_limit(struct sampleframes *frames, const struct perfdata_event *event, const uint64_t *ips,
			uint64_t n)
{
	uint64_t own = event ? event->max_stack : 0, recorded = perfdata_info(frames->data)->recorder.max_stack,
		 kernel = recorded ? recorded : SAMPLEFRAMES_LIMIT, max = own ? own : kernel, addresses;

	if (likely(n < max))
		return;
	addresses = callchain_addresses(ips, n);
	if (addresses >= max)
		sampleframes_location(frames,
				      own ? location_of_end(STACK_EVENT_LIMIT, 0) :
					    location_of_end(STACK_KERNEL_LIMIT, recorded ? recorded : addresses));
}

/* Adds the end of the stack to an open sample that pjrecord unwound. The number of CONTEXT_USER markers at the end of
 * ips[0..n), the callchain of the sample, decides (PJ_ITEM_UNWINDING): 0 is complete, 1 truncated, 3 unknown, other
 * numbers broken, two of them with a reason. With PJ_MARKS_NOT_VERIFIED markers, the callchain is the kernel's, and a
 * limit may have truncated it. Adds no end to a callchain without user part. */
static void push_end(struct sampleframes *frames, const struct perfdata_event *event, const uint64_t *ips, uint64_t n)
{
	static const enum stack_end ends[] = { STACK_COMPLETE,
					       STACK_TRUNCATED,
					       STACK_BROKEN,
					       STACK_UNKNOWN,
					       [PJ_MARKS_NOT_VERIFIED] = STACK_BROKEN,
					       [PJ_MARKS_OTHER_STACK] = STACK_OTHER_STACK,
					       [PJ_MARKS_NO_STACK] = STACK_NOT_COPIED };
	uint64_t marks = 0, user = n;

	while (marks < n && ips[n - 1 - marks] == CONTEXT_USER)
		marks++;
	while (user > 0 && ips[user - 1] != CONTEXT_USER)
		user--;
	if (marks == PJ_MARKS_NOT_VERIFIED)
		sampleframes_limit(frames, event, ips, n);
	else if (user)
		sampleframes_location(frames, location_of_end(ends[marks < countof(ends) ? marks : 2], 0));
}

static bool is_walked(const struct sampleframes *frames, const struct perfdata_event *event)
{
	size_t n;

	return recorder_walked(&perfdata_info(frames->data)->recorder,
			       (uint64_t)(event - perfdata_events(frames->data, &n)) + 1);
}

bool sampleframes_walks(const struct perfdata_record *record)
{
	return record->sample.regs_abi && record->sample.stack.n;
}

void sampleframes_push(struct sampleframes *frames, const struct addrspace_thread *thread,
		       const struct perfdata_record *record)
{
	bool walks = sampleframes_walks(record);
	enum stack_end end = STACK_COMPLETE;

	/* Without a callchain, the leaf frame is the interrupted address. In user code the stack walk adds this frame,
	 * so it is added here for other code only. */
	if (record->sample.has_chain)
		callchain_push(frames->callchain, thread, record);
	else if (!walks || record->sample.mode != MODE_USER)
		callchain_push_interrupted(frames->callchain, thread, record->sample.mode, record->sample.ip,
					   record->time);
	if (walks)
		end = push_walked(frames, thread, record);
	/* No frame was added: show the interrupted address as the only frame. Exception: with as_perf, a sample with an
	 * empty recorded callchain gets no frame, as in perf script. */
	if (frames->samples->nframes == 0 && (!record->sample.has_chain || !frames->as_perf) && record->sample.ip)
		callchain_push_interrupted(frames->callchain, thread, record->sample.mode, record->sample.ip,
					   record->time);
	if (walks)
		sampleframes_location(frames, location_of_end(end, 0));
	else if (record->sample.has_chain && !frames->as_perf && is_walked(frames, record->sample.event))
		push_end(frames, record->sample.event, record->sample.ips, record->sample.nips);
	else if (record->sample.has_chain)
		sampleframes_limit(frames, record->sample.event, record->sample.ips, record->sample.nips);
}
