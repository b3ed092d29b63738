/* SPDX-License-Identifier: Apache-2.0 */
/* heatpicture.h - the heat map in the static layer, which is visible without script. */
#ifndef PJ_HEATPICTURE_H
#define PJ_HEATPICTURE_H

#include "svg/heat/heatmap.h"
#include "common/text.h"

#define HEATPICTURE_GUTTER 48    /* width in px of the labels of rows, to the left of the first column */
#define HEATPICTURE_ROW 3        /* height of a slot in px, in a map without names of rows */
#define HEATPICTURE_LABELS 160   /* width in px of the labels, to the left of the first column, if rows have names */
#define HEATPICTURE_LABEL_ROW 12 /* height in px of a row with a name */
#define HEATPICTURE_COLUMN 32    /* maximum width of a column in px: a map with few columns ends before the margin */

/* Colours of the text around the map; dark: the background is dark. */
struct heatpicture_ink {
	uint32_t text, muted;
	bool dark;
};

/* Appends the map and its legend to *text. top: y of the legend in px; width: width of the picture in px; pad: its left
 * and right margin in px; unit: visible text. Returns the height of map and legend in px. */
uint32_t heatpicture_draw(struct text *text, const struct heatmap *map, const struct heatpicture_ink *ink,
			  struct str unit, uint32_t top, uint32_t width, uint32_t pad);

#endif
