/* SPDX-License-Identifier: Apache-2.0 */
/* bars.h - the boxes of the static layer: selection, position and SVG of the frames that are drawn. */
#ifndef PJ_BARS_H
#define PJ_BARS_H

#include "svg/picture.h"

struct bars {
	uint32_t rows;    /* number of rows that are drawn, without that of the root */
	bool rows_hidden; /* deeper frames are wide enough to be drawn, but have no row */
};

/* Draws below top (with flames up: the first row ends at top) and sets the results in *bars. change: NULL if the
 * picture is no difference. */
void bars_draw(struct bars *bars, struct text *text, const struct look *look, const struct layout *layout,
	       const struct styles *styles, const struct change *change, uint32_t width, uint32_t top);

void bars_weight(struct text *text, const struct look *look, uint64_t weight); /* "1,234 samples", times the factor */
void bars_percent(struct text *text, uint64_t part, uint64_t complete);        /* "12.3%", "0.45%", "<0.01%" */
bool bars_is_dark(uint32_t rgb); /* true for a colour that needs light text */

#endif
