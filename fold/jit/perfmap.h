/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfmap.h - names of JIT code from /tmp/perf-PID.map.
 *
 * A line is "START SIZE name", in hex with or without 0x; the name is the rest of the line, blanks included
 * (tools/perf/Documentation/jit-interface.txt). The JIT appends a line for new code, and addresses are reused: if
 * several lines contain an address, the last one is valid.
 *
 * The file is hostile input: any byte may be wrong, a million lines may be invalid, it may be a FIFO or endless. It is
 * read backwards, so that lines without a requested address need no memory. Of a file larger than 1 GB only the end is
 * read (`cut`), and line numbers are unknown.
 */
#ifndef PJ_PERFMAP_H
#define PJ_PERFMAP_H

#include "common/diag.h"
#include "fold/symbols/symbols.h"

/* Counts of one perf map. */
struct perfmap_tally {
	uint64_t lines, bad;
	/* Number of the first invalid line, from 1; 0: none, or unknown. */
	uint64_t first_bad;
	/* Reason why that line is invalid, a static text. */
	const char *why;
	/* The file is larger than 1 GB; only its end was read. */
	bool cut;
};

/* Looks up query[0, n), sorted by address (addresses of the process). Queries that have a name already are skipped;
 * names are interned in `names`. Sets *tally. Returns the number of queries that got a name; -1 if fd is not a regular
 * file, of which nothing is read. Does not close fd. */
ptrdiff_t perfmap_resolve(int fd, struct symbols_query *query, size_t n, struct intern *names,
			  struct perfmap_tally *tally);

#endif
