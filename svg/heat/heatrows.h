/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heatrows.h - the rows of a heat map with labels: one row for each outermost frame after the time, such as a host or
 * container.
 *
 * The HEATROWS_NAMED frames with the largest weight have a row each, the heaviest at the top; all others share one row.
 * Lost samples, which belong to no frame, have the lowest row. So the height of a map is limited for any number of
 * frames, and names need at most HEATROWS_NAME bytes each. Longer names lose their middle.
 */
#ifndef PJ_HEATROWS_H
#define PJ_HEATROWS_H

#include "common/arena.h"
#include "svg/heat/slots.h"

#define HEATROWS_NAMED 24
/* maximum number of rows, including the row of all other frames and the row of losses */
#define HEATROWS_MAX (HEATROWS_NAMED + 2)
#define HEATROWS_NAME 256
/* maximum length in bytes of a name beside its row, the ellipsis included; a longer name is shortened */
#define HEATROWS_BRIEF 24

struct heatrows {
	struct str label; /* label of the rows, e.g. "host"; visible text */
	uint32_t n;
	struct str name[HEATROWS_MAX];  /* names from bottom to top; visible text */
	struct str brief[HEATROWS_MAX]; /* names shortened to HEATROWS_BRIEF bytes, as shown beside the rows */
	uint32_t lost;                  /* index in `name` of the row of lost samples; HEATROWS_MAX: there is none */
	uint32_t others;                /* number of frames without a row of their own, which share one row; 0: none */
	uint32_t *of_frame;             /* row of each frame of the layout */
	struct arena arena;
};

/* Makes the rows. layout: made from slots->tree; label: the label of the rows. The caller frees *rows by
 * heatrows_free. */
void heatrows_make(struct heatrows *rows, const struct slots *slots, const struct layout *layout, struct str label);
void heatrows_free(struct heatrows *rows);

#endif
