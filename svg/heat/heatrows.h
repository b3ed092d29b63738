/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heatrows.h - the rows of a heat map with a row for each host, container or other label: the outermost frame behind
 * the time.
 *
 * The HEATROWS_NAMED frames with the largest weight have a row of their own, the heaviest at the top; all others share
 * one. Lost samples, which belong to no frame, have the lowest row. So a map of 10,000 containers is as high as one of
 * 24, and its names take at most HEATROWS_NAME bytes each.
 */
#ifndef PJ_HEATROWS_H
#define PJ_HEATROWS_H

#include "common/arena.h"
#include "svg/heat/slots.h"

#define HEATROWS_NAMED 24
#define HEATROWS_MAX (HEATROWS_NAMED + 2) /* with the rows of others and of losses */
#define HEATROWS_NAME 96

struct heatrows {
	struct str label; /* what a row is: "host"; visible text */
	uint32_t n;
	struct str name[HEATROWS_MAX]; /* from bottom to top; visible text */
	uint32_t lost;                 /* row of lost samples; HEATROWS_MAX if there are none */
	uint32_t others;               /* number of frames that share a row; 0: none */
	uint32_t *of_frame;            /* row of each frame of the layout */
	struct arena arena;
};

/* Makes the rows of slots, for the layout that was made from slots->tree. `label` is what a row is. */
void heatrows_make(struct heatrows *rows, const struct slots *slots, const struct layout *layout, struct str label);
void heatrows_free(struct heatrows *rows);

#endif
