/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfmap.h - finds names of JIT code in /tmp/perf-PID.map.
 *
 * A line is "START SIZE name", in hex with or without 0x; the name is the rest of the line, blanks included
 * (tools/perf/Documentation/jit-interface.txt). A JIT compiler appends a line for new code, and reuses addresses: if
 * several lines contain an address, the last one is valid.
 *
 * The file is hostile input: any byte may be wrong, a million lines may be invalid, it may be a FIFO or endless. It is
 * read backwards, so that lines without a requested address need no memory. Only the last 1 GB of a larger file is read
 * (`cut`); its line numbers are then unknown.
 */
#ifndef PJ_PERFMAP_H
#define PJ_PERFMAP_H

#include "common/diag.h"
#include "fold/symbols/symbols.h"

/* Counts of one perf map. */
struct perfmap_tally {
	/* lines: number of lines that were read. bad: number of invalid lines among them. */
	uint64_t lines, bad;
	/* Number, from 1, of the invalid line nearest to the start of the file; 0: no line is invalid, or the number is
	 * unknown (`cut`). */
	uint64_t first_bad;
	/* Error of the line first_bad, a static text. */
	const char *why;
	/* True if the file is larger than 1 GB, so that only its end was read. */
	bool cut;
};

/* Looks up query[0, n), sorted by address (virtual addresses of the process). Queries that already have a name are
 * skipped; new names are interned in `names`. Sets *tally. Returns the number of queries named; -1, without reading, if
 * fd is not a regular file. Does not close fd. */
ptrdiff_t perfmap_resolve(int fd, struct symbols_query *query, size_t n, struct intern *names,
			  struct perfmap_tally *tally);

#endif
