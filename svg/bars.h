/* SPDX-License-Identifier: Apache-2.0 */
/* bars.h - the boxes of the static layer: selects the frames to draw, computes their positions and writes their SVG. */
#ifndef PJ_BARS_H
#define PJ_BARS_H

#include "svg/picture.h"

struct bars {
	uint32_t rows; /* number of drawn rows, without the row of the root */
	/* true if deeper frames are wide enough to be drawn, but were left out because of the limit of rows */
	bool rows_hidden;
};

/* Replaces *text by the SVG of all drawn boxes, and sets *bars. width: width of the picture in px; top: y of the
 * uppermost row in px. change: NULL if the picture is not a difference. */
void bars_draw(struct bars *bars, struct text *text, const struct look *look, const struct layout *layout,
	       const struct styles *styles, const struct change *change, uint32_t width, uint32_t top);

/* Appends a weight, multiplied by look->factor, with its unit: "1,234 samples". */
void bars_weight(struct text *text, const struct look *look, uint64_t weight);
/* Appends part / complete as a percentage: "12.3%", "0.45%", "<0.01%". */
void bars_percent(struct text *text, uint64_t part, uint64_t complete);
/* Returns true if the colour rgb (0xRRGGBB) is so dark that text on it should be light; false if the text should be
 * dark. */
bool bars_is_dark(uint32_t rgb);

#endif
