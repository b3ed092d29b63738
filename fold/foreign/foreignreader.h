/* SPDX-License-Identifier: Apache-2.0 */
/*
 * foreignreader.h - converts text of other profilers to samples, line by line.
 *
 * common/filter/foreign.h recognizes the format by the first lines; one module reads each format. Malformed lines are
 * skipped and counted, with their position.
 *
 * 	foreignreader_begin(&reader, kind, &samples, block);
 * 	while (in_line(...))
 * 		foreignreader_line(&reader, line, number);
 * 	foreignreader_end(&reader);
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
	struct str preferred; /* value of samples.preferred before this input; foreignreader_end() restores it */
	uint64_t block;       /* index of the block in run.block, for the positions of malformed lines */
	union {
		struct bcc bcc;
		struct bpftrace bpftrace;
		struct jfrprint jfr;
		struct simpleperf simpleperf;
		struct threaddump threads;
	};
};

/* Initializes *reader, which must not move until foreignreader_end() frees it. kind: format of the text; must not be
 * FOREIGN_NONE or FOREIGN_OTHER. block: index of the block in run.block, for the positions of malformed lines. */
void foreignreader_begin(struct foreignreader *reader, enum foreign_kind kind, struct samples *samples, uint64_t block);

/* Reads line `number` of the block, without its newline. */
void foreignreader_line(struct foreignreader *reader, struct str line, uint64_t number);

/* Adds the last sample, and frees the reader. Returns the number of stacks that the other profiler truncated when it
 * printed them. */
uint64_t foreignreader_end(struct foreignreader *reader);

#endif
