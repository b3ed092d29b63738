/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bars.h - the boxes of the static layer: which frames are drawn, where, and as which bytes.
 */
#ifndef PJ_BARS_H
#define PJ_BARS_H

#include "svg/picture.h"

struct bars {
	uint32_t rows;    /* drawn, the root's not counted */
	bool rows_hidden; /* there are deeper frames wide enough to be seen */
};

/* Draws below top (with flames up: the first row ends at top) and sets the results in *bars. change: NULL if the
 * picture is no difference. */
void bars_draw(struct bars *bars, struct text *text, const struct look *look, const struct layout *layout,
	       const struct styles *styles, const struct change *change, uint32_t width, uint32_t top);

void bars_weight(struct text *text, const struct look *look, uint64_t weight); /* "1,234 samples", times the factor */
void bars_percent(struct text *text, uint64_t part, uint64_t complete);        /* "12.3%", "0.45%", "<0.01%" */
bool bars_is_dark(uint32_t rgb);                                               /* wants light text on it */

#endif
