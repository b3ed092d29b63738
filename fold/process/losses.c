/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/process/losses.h"

#include <stdlib.h>

/* Lost samples of one event, and the same losses by time slice; losses whose record has no time are in no slice. */
struct event_losses {
	uint64_t samples;
	struct slices_lost slices;
};

/* Returns the losses of the event with index `event`, from 0. */
static struct event_losses *losses_of(struct losses *losses, uint32_t event)
{
	if (event >= losses->events) {
		size_t n = (size_t)event + 1;

		losses->event = mem_grow(losses->event, sizeof(*losses->event), n);
		memset(losses->event + losses->events, 0, (n - losses->events) * sizeof(*losses->event));
		losses->events = n;
	}
	return &losses->event[event];
}

void losses_add(struct losses *losses, const struct perfdata_record *record, struct str slice)
{
	struct slices_lost *slices = &losses->slices;

	if (record->lost.samples) {
		struct event_losses *of_event = losses_of(losses, record->lost.event);

		losses->samples += record->lost.count;
		of_event->samples += record->lost.count;
		slices = &of_event->slices;
	} else {
		losses->records += record->lost.count;
	}
	if (slice.n)
		slices_lose(slices, slice, record->lost.count);
}

void losses_take(const struct losses *losses, const struct perfdata *data, const struct samples *samples,
		 uint64_t *lost, struct slices_lost *slices)
{
	bool by_event = losses->samples >= losses->records;
	const struct perfdata_event *event;
	size_t n;

	if (!by_event) {
		*lost += losses->records;
		slices_lost_add(slices, &losses->slices);
	}
	event = perfdata_events(data, &n);
	for (size_t i = 0; by_event && i < n && i < losses->events; i++)
		if (!samples->chosen || samples_counts(samples, event[i].name)) {
			*lost += losses->event[i].samples;
			slices_lost_add(slices, &losses->event[i].slices);
		}
}

void losses_free(struct losses *losses)
{
	for (size_t i = 0; i < losses->events; i++)
		slices_lost_free(&losses->event[i].slices);
	slices_lost_free(&losses->slices);
	free(losses->event);
}
