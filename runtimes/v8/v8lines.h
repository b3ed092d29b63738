/* SPDX-License-Identifier: Apache-2.0 */
/*
 * v8lines.h - lines of positions in scripts.
 *
 * V8 has an array of the ends of lines only after code of the program needed a line. Otherwise they are counted in the
 * source, from the next lower position whose line is known: those of functions, and each V8LINES_BLOCK characters. They
 * are kept in struct v8. The characters that are looked at for one stack are bounded, so that it takes several stacks
 * until the line of a function far down in a large source is known.
 */
#ifndef PJ_V8LINES_H
#define PJ_V8LINES_H

#include "runtimes/v8/v8heap.h"

#define V8LINES_BLOCK 32768u
#define V8LINES_SOURCE (8u << 20) /* characters of a source from which on no lines are counted */

/* Sets *line to the line of a position in a script, from 1; 0 if it has none. Returns false, and sets *line to 0, if it
 * is not known yet. */
bool v8lines_at(struct v8 *v8, uint64_t script, uint32_t position, uint32_t *line);

#endif
