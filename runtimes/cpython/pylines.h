/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pylines.h - lines of bytecode: co_lnotab (before 3.10), co_linetable (3.10), location table (since 3.11).
 *
 * Formats: Objects/lnotab_notes.txt, Objects/locations.md, InternalDocs/code_objects.md of CPython.
 */
#ifndef PJ_PYLINES_H
#define PJ_PYLINES_H

#include "common/base.h"

/* Returns the next byte of a table, or -1 at its end or when it is not readable. */
struct pylines_source {
	int (*next)(void *arg);
	void *arg;
};

/* Returns the line of the instruction at an offset in the bytecode, in bytes, of a code object of version 3.`version`
 * whose first line is `firstline`; an offset below 0 has the first line. Returns 0 for an instruction without a line,
 * and if the table is malformed or ends before. Takes a step for each byte of the table. */
uint32_t pylines_find(const struct pylines_source *source, uint32_t version, int32_t firstline, int64_t offset);

#endif
