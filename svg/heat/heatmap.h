/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heatmap.h - the grid of a heat map: columns of equal time, rows of equal parts of a column, and the weights of frames
 * in each slot.
 *
 * A position is the number of a slot, counted from the start of the first column: column * rows + row. A gap, more than
 * HEATMAP_GAP columns without samples, is shown as one column. The length of a slot is a multiple of the distance of
 * the input's times: the shortest for which the map has at most HEATMAP_COLUMNS columns and HEATMAP_PAIRS pairs of slot
 * and frame. So memory and file size are limited for any time range.
 *
 * In a map with rows for labels (heatrows.h), a slot is a complete column of one row, at least HEATMAP_ROW_SLOT long
 * unless the user gives a length.
 */
#ifndef PJ_HEATMAP_H
#define PJ_HEATMAP_H

#include "svg/heat/heatrows.h"

#define HEATMAP_COLUMNS 720
/* maximum number of pairs of slot and frame; slots become longer until the map has at most these. A pair takes 2 to 3
 * bytes in a file, all together about 18 MB */
#define HEATMAP_PAIRS 6000000
#define HEATMAP_GAP 60
#define HEATMAP_LEVELS 9
/* minimum length in ns of a slot in a map with labels, unless the user gives a length */
#define HEATMAP_ROW_SLOT UINT64_C(5000000000)
#define HEATMAP_MISSING 10 /* minimum number of columns without samples that are marked as missing */

/* A run: adjacent columns without a gap. n: number of columns of the run; position: number of columns of the map to the
 * left of the run; column: number of the first column, which begins at column * column_ns. */
struct heatmap_run {
	uint32_t position, n;
	uint64_t column;
};

/* A slot with samples or losses. Its weights are map->item[first] to item[first + n - 1]. */
struct heatmap_slot {
	uint32_t position;
	uint64_t sum, lost;
	size_t first, n;
};

struct markers;

struct heatmap {
	uint64_t slot_ns, column_ns;
	/* 0 if slots have the shortest allowed length; otherwise this length in ns: the slots of the map are longer,
	 * because a map with this length would be too large */
	uint64_t joined_ns;
	const struct heatrows *labels; /* rows of the labels (heatrows.h); NULL: the rows are equal parts of a column */
	const struct markers *markers; /* markers in the map (markers.h), set by the owner of the map; NULL: none */
	uint64_t origin;               /* start of the first column in ns */
	uint32_t rows, columns;
	size_t nruns;
	struct heatmap_run *run;
	size_t nslots;
	struct heatmap_slot *slot; /* slots with samples or losses, sorted by position; nslots elements */
	struct slots_item *item;   /* weights, sorted by slot, then by frame; owned by the slots of heatmap_make */
	size_t n;
	uint64_t full; /* weight from which on a slot has the most intense colour (level HEATMAP_LEVELS) */
	uint64_t max;  /* largest weight of a slot */
	/* with labels: minimum number of adjacent columns without samples that are marked as missing in a row:
	 * HEATMAP_MISSING, or twice the usual distance of a row's times if that is larger; e.g. windows of 60 s fill
	 * one of twelve columns of 5 s */
	uint32_t missing;
};

/* Makes the heat map of slots with at least one time. slot_ns: slot length that the user wishes, 0: none. labels: the
 * rows, which must live as long as the map; NULL: rows are parts of a column. Changes slots->item. The caller frees
 * *map by heatmap_free. */
void heatmap_make(struct heatmap *map, struct slots *slots, const struct heatrows *labels, uint64_t slot_ns);
void heatmap_free(struct heatmap *map);

/* Searches a row with a label for the next range of map->missing or more adjacent columns of a run without samples.
 * *column: column at which the search starts; set to the first column of the range. filled: result of heatmap_filled.
 * Returns the number of columns in the range; 0 if there is no range. */
uint32_t heatmap_missing(const struct heatmap *map, const bool *filled, uint32_t row, uint32_t *column);

/* Sets *position to the slot that contains the time ns; with labels, to the lowest row of its column; for a time in a
 * gap, to the slot of the column that stands for the gap. Returns false if the time is before the first column or after
 * the last column. */
bool heatmap_position(const struct heatmap *map, uint64_t ns, uint32_t *position);

/* Returns an array with true for each position that has samples. The caller frees it. */
bool *heatmap_filled(const struct heatmap *map);

/* Returns the colour level of a slot with the weight `sum`, at least 1: HEATMAP_LEVELS from map->full on; below, linear
 * from level 1 at a weight of 1. */
unsigned heatmap_level(const struct heatmap *map, uint64_t sum);

/* Returns the colour of a level for a light or dark background, 0xRRGGBB. */
uint32_t heatmap_colour(unsigned level, bool dark);

#endif
