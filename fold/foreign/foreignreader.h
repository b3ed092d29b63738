/* SPDX-License-Identifier: Apache-2.0 */
/*
 * foreignreader.h - text of other profilers, line by line, into samples.
 *
 * common/filter/foreign.h recognizes the format by the first lines; each format has a module. Lines that a module does
 * not understand are counted with their place.
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
	struct str preferred; /* that of samples before the input */
	uint64_t block;       /* for the place of lines */
	union {
		struct bcc bcc;
		struct bpftrace bpftrace;
		struct jfrprint jfr;
		struct simpleperf simpleperf;
		struct threaddump threads;
	};
};

/* Prepares *reader, which foreignreader_end frees and which must not move. kind: not FOREIGN_NONE, not FOREIGN_OTHER.
 * block: for samples_skip. */
void foreignreader_begin(struct foreignreader *reader, enum foreign_kind kind, struct samples *samples, uint64_t block);

/* Takes a line without its newline. */
void foreignreader_line(struct foreignreader *reader, struct str line, uint64_t number);

/* Adds what is open, and frees the reader. Returns the number of stacks that the program cut when it printed them. */
uint64_t foreignreader_end(struct foreignreader *reader);

#endif
