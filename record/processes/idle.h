/* SPDX-License-Identifier: Apache-2.0 */
/* idle.h - how long each CPU was idle in a window, as /proc/stat counts it. */
#ifndef PJ_IDLE_H
#define PJ_IDLE_H

#include "common/text.h"

struct idle {
	uint64_t *ns; /* of each CPU, when the window began */
	size_t n;
};

void idle_begin(struct idle *i);
void idle_put(const struct idle *i, struct text *text); /* items of PJ_END */
void idle_free(struct idle *i);

#endif
