/* SPDX-License-Identifier: Apache-2.0 */
/*
 * losses.h - counts the records that one perf.data lacks: lost records of any kind, and lost samples by event; both
 * also by time slice.
 *
 * LOST records count records of any kind, and have no event; LOST_SAMPLES records count samples of one event. Both
 * mostly count the same losses, in full buffers, so only the larger sum is used.
 */
#ifndef PJ_LOSSES_H
#define PJ_LOSSES_H

#include "fold/perfdata/perfdata.h"
#include "fold/samples/samples.h"
#include "fold/samples/slicelosses.h"

struct event_losses;

/* Losses of one perf.data; a struct of zeros has none. records: sum of the counts in LOST records. samples: sum of the
 * counts in LOST_SAMPLES records. */
struct losses {
	uint64_t records, samples;
	/* Lost samples of each event, by index of the event in the file; `events` elements. */
	struct event_losses *event;
	size_t events;
	/* The losses of LOST records by time slice; records without time are in no slice. */
	struct slices_lost slices;
};

/* Adds the losses that a record of kind PERFDATA_LOST reports. Adds them also to the time slice with name `slice`,
 * unless the name is empty. */
void losses_add(struct losses *losses, const struct perfdata_record *record, struct str slice);

/* Adds losses to *lost and *slices: the lost samples of the events that `samples` counts (of all events of `data` if
 * the user chose none). If the LOST records have a larger sum than the LOST_SAMPLES records, adds the losses of LOST
 * records instead. */
void losses_take(const struct losses *losses, const struct perfdata *data, const struct samples *samples,
		 uint64_t *lost, struct slices_lost *slices);

void losses_free(struct losses *losses);

#endif
