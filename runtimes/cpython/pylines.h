/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pylines.h - finds the line of a bytecode instruction in co_lnotab (before 3.10), co_linetable (3.10) or the location
 * table (since 3.11).
 *
 * Formats: Objects/lnotab_notes.txt, Objects/locations.md, InternalDocs/code_objects.md of CPython.
 */
#ifndef PJ_PYLINES_H
#define PJ_PYLINES_H

#include "common/base.h"

/* Source of a table's bytes. next(arg) returns the next byte, or -1 at the end of the table, or if the byte is not
 * readable. */
struct pylines_source {
	int (*next)(void *arg);
	void *arg;
};

/* Returns the line of the instruction at an offset in the bytecode, in bytes. The code object is of version
 * 3.`version`, and its first line is `firstline`; an offset below 0 has that line. Returns 0 for an instruction without
 * a line, if the table is malformed, and, since 3.10, if it ends before the offset (the last line of a co_lnotab
 * applies to all further instructions). Reads the table up to the offset. */
uint32_t pylines_find(const struct pylines_source *source, uint32_t version, int32_t firstline, int64_t offset);

#endif
