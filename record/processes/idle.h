/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idle.h - idle time of each CPU in a window, from /proc/stat.
 */
#ifndef PJ_IDLE_H
#define PJ_IDLE_H

#include "common/text.h"

struct idle {
	/* idle time of each CPU since boot, at the start of the window, in ns; index: CPU number */
	uint64_t *ns;
	size_t n;
};

/* Reads the idle times at the start of a window. */
void idle_begin(struct idle *i);

/*
 * Appends one item PJ_ITEM_IDLE for each CPU, with its idle time since idle_begin in ns, to the text of FEATURE_PJ_END.
 * Leaves out a CPU whose idle time since boot is lower than at idle_begin.
 */
void idle_put(const struct idle *i, struct text *text);

void idle_free(struct idle *i);

#endif
