/* SPDX-License-Identifier: Apache-2.0 */
/*
 * losses.h - what the recorder of one perf.data lost: records of any kind, and samples by event, also by time slice.
 *
 * LOST records count records of any kind, and have no event; LOST_SAMPLES records count samples of one event. Both
 * mostly count the losses of full buffers, so only the larger one counts.
 */
#ifndef PJ_LOSSES_H
#define PJ_LOSSES_H

#include "fold/perfdata/perfdata.h"
#include "fold/samples/samples.h"
#include "fold/samples/slicelosses.h"

struct event_losses;

/* All zero is empty. */
struct losses {
	uint64_t records, samples;
	/* Losses by number of the event, `events` elements. */
	struct event_losses *event;
	size_t events;
	/* The losses of `records` by time slice, without those whose record has no time. */
	struct slices_lost slices;
};

/* Counts a record of kind PERFDATA_LOST, also in the time slice of this name; empty: in none. */
void losses_add(struct losses *losses, const struct perfdata_record *record, struct str slice);

/* Adds the losses to *lost and to the time slices: lost samples of the event that `samples` counts, or of all events of
 * `data` if it counts none; the losses without event instead if they are more. */
void losses_take(const struct losses *losses, const struct perfdata *data, const struct samples *samples,
		 uint64_t *lost, struct slices_lost *slices);

void losses_free(struct losses *losses);

#endif
