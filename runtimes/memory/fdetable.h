/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fdetable.h - finds the address range of the function at an address, by the sorted unwind table (.eh_frame_hdr) of a
 * loaded file. Used for files without a symbol table.
 */
#ifndef PJ_FDETABLE_H
#define PJ_FDETABLE_H

#include "runtimes/memory/loadedfile.h"

#define FDETABLE_FUNCTION_MAX (1u << 20) /* limit for the size of a function in bytes; lookups of a larger one fail */

struct fdetable {
	struct memory *memory;
	uint64_t header, table; /* addresses of .eh_frame_hdr and of its sorted table */
	uint32_t n;             /* number of FDEs, at least 1 */
};

/* Opens the unwind table of a file. Returns false if the file has no table, or the table is empty, too large (more
 * than 2^20 FDEs), of unusual encodings or not readable. */
bool fdetable_open(struct fdetable *table, const struct loadedfile *file);

/* Sets [*start, *end) to the range of the FDE that contains an address. Returns false if no FDE contains the address,
 * or if the FDE is not readable or its range is larger than FDETABLE_FUNCTION_MAX. */
bool fdetable_range(const struct fdetable *table, uint64_t address, uint64_t *start, uint64_t *end);

/* Sets [*start, *end) to the range from the start of the first function to the end of the last one. Returns false if
 * the FDE of either function is not readable or invalid. */
bool fdetable_all(const struct fdetable *table, uint64_t *start, uint64_t *end);

#endif
