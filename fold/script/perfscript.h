/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfscript.h - which line of `perf script` text is what.
 *
 * Lines are told apart by their place (a sample is a header, then frames, then an empty line) and by what cannot be
 * mistaken: a TAB starts a frame, a time or event makes a header. The text is fed in blocks that begin and end at
 * borders of samples, so that several threads can each fold their share.
 */
#ifndef PJ_PERFSCRIPT_H
#define PJ_PERFSCRIPT_H

#include "fold/samples/samples.h"

struct script {
	struct samples samples;
	uint64_t line;   /* number of the current one in its block, from 1 */
	bool share_here; /* may samples of this block share their tails? */
	bool single;     /* the open sample has its one frame on its header's line: only a source line may follow */
	bool weak;       /* a line was read that is a header only if frames follow */
	struct sample_key weak_header;
	struct str weak_line;
	uint64_t weak_number;
};

void script_init(struct script *script, const struct samples_options *options);

/* A worker that continues where `of` decided (event, first time). */
void script_fork(struct script *worker, const struct script *script);

/* Folds text, which begins and ends at a border. block: its number in the run, for places. */
void script_block(struct script *script, struct str text, uint64_t block);

/* Last border in text: everything before it is whole samples. 0 when there is none. */
size_t script_last_border(struct str text);

/* Is line the start of a sample or frame, as far as one line can tell? */
bool script_looks_like(struct str line);

void script_free(struct script *script);

#endif
