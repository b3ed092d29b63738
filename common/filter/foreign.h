/* SPDX-License-Identifier: Apache-2.0 */
/*
 * foreign.h - formats of other profilers that pj does not read, by their first lines.
 *
 * Lines of most of them end in a number, so they would be read as folded stacks. The message names the format and the
 * program that converts it.
 */
#ifndef PJ_FOREIGN_H
#define PJ_FOREIGN_H

#include "common/str.h"

/* Returns the name of the format with advice, a static text; NULL if the input is of no such format. head: the first
 * bytes of the input, 4 KB if it has as many. Pure. */
const char *foreign_format(struct str head);

#endif
