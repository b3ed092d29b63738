/* SPDX-License-Identifier: Apache-2.0 */
/*
 * foreignreader.h - makes samples of the text of other profilers, line by line.
 *
 * common/filter/foreign.h recognizes the format by the first lines; each format has a module. Malformed lines are
 * counted with their place.
 *
 *	foreignreader_begin(&reader, kind, &samples, block);
 *	while (in_line(...))
 *		foreignreader_line(&reader, line, number);
 *	foreignreader_end(&reader);
 */
#ifndef PJ_FOREIGNREADER_H
#define PJ_FOREIGNREADER_H

#include "common/filter/foreign.h"
#include "fold/foreign/bcc.h"
#include "fold/foreign/bpftrace.h"
#include "fold/foreign/jfrprint.h"
#include "fold/foreign/simpleperf.h"
#include "fold/foreign/threaddump.h"

struct foreignreader {
	enum foreign_kind kind;
	struct foreignstack stack;
	struct str preferred; /* samples.preferred before this input: foreignreader_end restores it */
	uint64_t block;       /* number of the block, for the places of malformed lines */
	union {
		struct bcc bcc;
		struct bpftrace bpftrace;
		struct jfrprint jfr;
		struct simpleperf simpleperf;
		struct threaddump threads;
	};
};

/* Prepares *reader, which foreignreader_end frees and which must not move. kind: not FOREIGN_NONE, not FOREIGN_OTHER.
 * block: number of the block, for the places of malformed lines. */
void foreignreader_begin(struct foreignreader *reader, enum foreign_kind kind, struct samples *samples, uint64_t block);

/* Reads line `number` of the block, without its newline. */
void foreignreader_line(struct foreignreader *reader, struct str line, uint64_t number);

/* Adds the open sample, and frees the reader. Returns the number of stacks that the other profiler truncated when it
 * printed them. */
uint64_t foreignreader_end(struct foreignreader *reader);

#endif
