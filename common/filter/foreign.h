/* SPDX-License-Identifier: Apache-2.0 */
/*
 * foreign.h - recognizes formats of other profilers, which pj does not read, by their first lines.
 *
 * Lines of most of them end in a number, so they would be read as folded stacks. The message names the format and the
 * program that converts it.
 */
#ifndef PJ_FOREIGN_H
#define PJ_FOREIGN_H

#include "common/str.h"

/* Returns a static text with the name of the format and advice; NULL if the input has no such format. head has the
 * first 4 KB of the input, or all of a shorter one. Pure. */
const char *foreign_format(struct str head);

#endif
