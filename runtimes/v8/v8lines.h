/* SPDX-License-Identifier: Apache-2.0 */
/*
 * v8lines.h - finds the line of a position in a script.
 *
 * V8 makes an array of line ends only after code of the program needed a line. Without it, v8lines counts line ends in
 * the source, from the nearest lower position with a known line: the start of a function, or a multiple of
 * V8LINES_BLOCK characters. struct v8 caches known lines. The number of source characters that are read for one stack
 * is limited, so the line of a function far down in a large source is known only after several stacks.
 */
#ifndef PJ_V8LINES_H
#define PJ_V8LINES_H

#include "runtimes/v8/v8heap.h"

#define V8LINES_BLOCK 32768u
#define V8LINES_SOURCE (8u << 20) /* length of a source in characters from which on no lines are counted */

/* Sets *line to the line of a position in a script, from 1; 0 if the script has no readable line ends or source, or the
 * source is too large. Returns false, and sets *line to 0, if the line is not known yet. */
bool v8lines_at(struct v8 *v8, uint64_t script, uint32_t position, uint32_t *line);

#endif
