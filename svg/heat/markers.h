/* SPDX-License-Identifier: Apache-2.0 */
/*
 * markers.h - events at known times, such as deployments, that a heat map shows as labelled lines.
 *
 * Input are lines of text: a time, a tab or blanks, and a label. A time is one that heattime_parse accepts, or a date,
 * with or without a time of day, in the format of timearg.h; without a zone it is local time. Examples: 12.5,
 * 1795263657.55, @1795263657, 2026-11-26T20:38:45.25Z, 2026-11-26T21:38+01:00, 2026-11-26 21:38:45 +0100,
 * 2026-11-26 21:38, 2026-11-26. Empty lines and lines that begin with # are not markers. A map has at most MARKERS_MAX
 * markers, with labels of at most MARKERS_LABEL bytes, so memory and file size are limited for any text.
 */
#ifndef PJ_MARKERS_H
#define PJ_MARKERS_H

#include "common/arena.h"
#include "svg/heat/heatmap.h"

#define MARKERS_MAX 200
#define MARKERS_LABEL 120

struct marker {
	uint64_t ns;
	/* position in the map of the slot that contains the time; in a map with labels, position of the lowest row of
	 * its column */
	uint32_t position;
	uint32_t number;  /* number of markers that were added before this one: order of markers with equal times */
	struct str label; /* text of the marker; visible text (visible.h) */
};

/* The markers of a heat map; a struct of zeros has none. */
struct markers {
	size_t n;
	struct marker *marker; /* in the order of markers_add; after markers_sort, by time */
	uint64_t lines;        /* number of lines that are neither empty nor comments */
	uint64_t malformed;    /* number of lines that lack a valid time or a label */
	/* number of markers dropped because their time is before the first or after the last column of the map */
	uint64_t outside;
	uint64_t outside_wall; /* number of the markers in `outside` that have a wall-clock time */
	uint64_t excess;       /* number of markers dropped because MARKERS_MAX were stored already */
	struct arena arena;
};

/* Adds the marker of a line if its time is in the map; otherwise adds 1 to the count of the reason (malformed, outside,
 * excess). Returns false if the line is malformed. */
bool markers_add(struct markers *markers, const struct heatmap *map, struct str line);

/* Sorts the markers by time, equal times by their order in the text. */
void markers_sort(struct markers *markers);

void markers_free(struct markers *markers);

#endif
