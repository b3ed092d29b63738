/* SPDX-License-Identifier: Apache-2.0 */
/* bars.h - the boxes of the static layer: selects the frames that are drawn, places them and writes their SVG. */
#ifndef PJ_BARS_H
#define PJ_BARS_H

#include "svg/picture.h"

struct bars {
	uint32_t rows; /* number of rows that are drawn, without the root's row */
	/* true if deeper frames are wide enough to be drawn, but left out because of the limit of rows */
	bool rows_hidden;
};

/* Appends the SVG of all boxes to text and sets *bars. The uppermost row starts at y = top, in px. change is NULL if
 * the picture is no difference. */
void bars_draw(struct bars *bars, struct text *text, const struct look *look, const struct layout *layout,
	       const struct styles *styles, const struct change *change, uint32_t width, uint32_t top);

/* Appends a weight times look->factor with its unit: "1,234 samples". */
void bars_weight(struct text *text, const struct look *look, uint64_t weight);
/* Appends a share of a total: "12.3%", "0.45%", "<0.01%". */
void bars_percent(struct text *text, uint64_t part, uint64_t complete);
/* Returns true if light text is readable on this colour. */
bool bars_is_dark(uint32_t rgb);

#endif
