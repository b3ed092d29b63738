/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfscript.h - parses the text of `perf script`.
 *
 * A line is classified by its position (a sample is a header, then frames, then an empty line) and by its unambiguous
 * parts: a TAB starts a frame, a time or event makes a header. The caller feeds blocks of text that start and end at
 * borders of samples, so that several threads can fold blocks at the same time.
 */
#ifndef PJ_PERFSCRIPT_H
#define PJ_PERFSCRIPT_H

#include "fold/samples/samples.h"
#include "fold/script/textstacks.h"

struct script {
	struct samples samples;
	struct textstacks text;
	/* Number of the current line in its block, from 1. */
	uint64_t line;
	/* True if the last lines of samples in this block are compared with the thread's previous sample, to reuse the
	 * nodes of equal lines (suffixcache.h). False if an option prevents it (textstacks.share), or after the search
	 * for a sample's end failed. */
	bool share_here;
	/* True if the header line of the open sample contains its only frame, so that only a source line may follow. */
	bool single;
	/* True if weak_line, line weak_number of the block, may be a header: the line is a header if frames follow,
	 * otherwise it is malformed. */
	bool weak;
	struct sample_key weak_header;
	struct str weak_line;
	uint64_t weak_number;
};

/* Prepares *script for the first block. options must stay valid until script_free(). */
void script_init(struct script *script, const struct samples_options *options);

/* Prepares the state of a worker thread. The worker uses the chosen event and the time of the first sample from
 * `script`. */
void script_fork(struct script *worker, const struct script *script);

/* Folds a block of text that starts and ends at borders of samples. `block` is its number in the run, for messages. */
void script_block(struct script *script, struct str text, uint64_t block);

/* Returns the offset of the last border between samples in text, so that only complete samples precede it; 0 if there
 * is no border. */
size_t script_last_border(struct str text);

/* Returns true if a line, without its context, may be a header or a frame of perf script, otherwise false. pjfold calls
 * it to detect the format of an input. */
bool script_looks_like(struct str line);

void script_free(struct script *script);

#endif
