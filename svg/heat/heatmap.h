/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heatmap.h - the grid of a heat map: columns of equal time, rows of equal parts of a column, and the weights of frames
 * in each slot of it.
 *
 * A position counts slots from the first column's begin: column * rows + row. More than HEATMAP_GAP columns without
 * samples become one column, the gap. The slot is the shortest that fits: a multiple of the distance of the input's
 * times, with at most HEATMAP_COLUMNS columns and HEATMAP_PAIRS pairs of slot and frame. So memory and file are bounded
 * for any span of time.
 *
 * In a map with rows for labels (heatrows.h), a slot is a whole column of one row, at least HEATMAP_ROW_SLOT long.
 */
#ifndef PJ_HEATMAP_H
#define PJ_HEATMAP_H

#include "svg/heat/heatrows.h"

#define HEATMAP_COLUMNS 720
#define HEATMAP_PAIRS 6000000 /* at 2 to 3 bytes each, at most about 18 MB of a file */
#define HEATMAP_GAP 60
#define HEATMAP_LEVELS 9
#define HEATMAP_ROW_SLOT UINT64_C(5000000000) /* ns */
#define HEATMAP_MISSING 10                    /* least number of columns without samples that are marked as missing */

/* Columns without a gap between them: the first at `position` columns from the left is column number `column`, which
 * begins at column * column_ns. */
struct heatmap_run {
	uint32_t position, n;
	uint64_t column;
};

/* A slot with samples or losses. Its weights are item[first] to item[first + n - 1] of the map. */
struct heatmap_slot {
	uint32_t position;
	uint64_t sum, lost;
	size_t first, n;
};

struct heatmap {
	uint64_t slot_ns, column_ns;
	uint64_t joined_ns; /* length of the slots that were joined to those of slot_ns, which had been too many; else 0
			     */
	const struct heatrows *labels; /* NULL: rows are parts of a column */
	uint64_t origin;               /* begin of the first column in ns */
	uint32_t rows, columns;
	size_t nruns;
	struct heatmap_run *run;
	size_t nslots;
	struct heatmap_slot *slot; /* ascending */
	struct slots_item *item;   /* ascending by slot, then by frame; belongs to the slots that the map was made of */
	size_t n;
	uint64_t full; /* weight of a slot from which on it has the last colour */
	uint64_t max;  /* largest weight of a slot */
	/* With labels: number of columns without samples in a row that are marked. HEATMAP_MISSING, or twice the usual
	 * distance of a row's times in columns: windows of 60 s fill one of twelve columns of 5 s. */
	uint32_t missing;
};

/* Makes the map of slots with at least one time. slot_ns is the length that the user wishes for a slot; 0: none.
 * labels: the rows, which live as long as the map; NULL: rows are parts of a column. Changes slots->item. */
void heatmap_make(struct heatmap *map, struct slots *slots, const struct heatrows *labels, uint64_t slot_ns);
void heatmap_free(struct heatmap *map);

/* Finds the next columns without a sample in a row with a label, map->missing or more, inside of a run. *column is
 * where the search begins; then the first of them. Returns their number; 0: there are no more. `filled` has a flag for
 * each position (heatmap_filled). */
uint32_t heatmap_missing(const struct heatmap *map, const bool *filled, uint32_t row, uint32_t *column);

/* Returns for each position if it has samples; the caller frees it. */
bool *heatmap_filled(const struct heatmap *map);

/* Returns the level of a slot's weight: 1 for a weight of 1, HEATMAP_LEVELS from map->full on. */
unsigned heatmap_level(const struct heatmap *map, uint64_t sum);

/* Returns the colour 0xRRGGBB of a level, for a light or dark background. */
uint32_t heatmap_colour(unsigned level, bool dark);

#endif
