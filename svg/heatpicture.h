/* SPDX-License-Identifier: Apache-2.0 */
/* heatpicture.h - the heat map of the static layer: visible without script. */
#ifndef PJ_HEATPICTURE_H
#define PJ_HEATPICTURE_H

#include "svg/heat/heatmap.h"
#include "common/text.h"

#define HEATPICTURE_GUTTER 48    /* px to the left of the first column, for the labels of rows */
#define HEATPICTURE_ROW 3        /* height of a slot in px */
#define HEATPICTURE_LABELS 160   /* as HEATPICTURE_GUTTER, for names of rows */
#define HEATPICTURE_LABEL_ROW 12 /* height of a row with a name */
#define HEATPICTURE_COLUMN 32    /* largest width of a column in px */

/* Colours of the text around the map. */
struct heatpicture_ink {
	uint32_t text, muted;
	bool dark;
};

/* Appends the map and its legend, from height `top` on, in a picture of `width` px with `pad` px of margin. `unit` is
 * visible text. Returns the height that it takes, in px. */
uint32_t heatpicture_draw(struct text *text, const struct heatmap *map, const struct heatpicture_ink *ink,
			  struct str unit, uint32_t top, uint32_t width, uint32_t pad);

#endif
