/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfmap.h - /tmp/perf-PID.map: names of code that was compiled at run time.
 *
 * "START SIZE name" in hex, with or without 0x; the name is the rest of the line, blanks included
 * (tools/perf/Documentation/jit-interface.txt). Lines are appended as code is made and addresses are used again: of
 * several that hold an address the last one wins. The file is written by strangers: any byte may be wrong, a million
 * lines may be bad, it may be a FIFO or endless. It is read backwards, so that nothing is remembered of lines that hold
 * no address that was asked for; of one larger than 1 GB the end is read (cut), and lines are not numbered then.
 */
#ifndef PJ_PERFMAP_H
#define PJ_PERFMAP_H

#include "common/diag.h"
#include "fold/symbols/symbols.h"

struct perfmap_tally {
	uint64_t lines, bad;
	uint64_t first_bad; /* line number, from 1; 0: none */
	const char *why;    /* of the first */
	bool cut;           /* larger than is read */
};

/* Reads fd (a regular file, else nothing is read and -1 returned) and answers query (addresses as in the process). Does
 * not close fd. Returns how many were answered; what has a name already is left. */
ptrdiff_t perfmap_resolve(int fd, struct symbols_query *query, size_t n, struct intern *names,
			  struct perfmap_tally *tally);

#endif
