/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.h - folds perf script text in several threads, block by block, and text of other profilers in one thread.
 *
 * One thread at a time reads, under a lock, a block of about 1 MB that ends at a boundary between samples. The first
 * blocks, until the event to fold is known, are smaller. A block can be folded without any other block. Block
 * boundaries and the result therefore depend neither on the number of threads nor on the kind of input (file, pipe,
 * gzip).
 *
 *     run_init(&run, &options, threads);
 *     run_script(&run, &input);              for each input
 *     run_end(&run);
 *     ... run.script.samples ...
 *     run_free(&run);
 */
#ifndef PJ_RUN_H
#define PJ_RUN_H

#include "common/formats/folded.h"
#include "fold/script/perfscript.h"

/* Kinds of input. INPUT_SCRIPT: perf script text. INPUT_FOLDED: folded stacks. INPUT_RECORDING: perf.data.
 * INPUT_FOREIGN: text of another profiler (fold/foreign/). INPUT_EMPTY: no data. */
enum input_kind { INPUT_SCRIPT, INPUT_FOLDED, INPUT_RECORDING, INPUT_FOREIGN, INPUT_EMPTY };

/* Returns the kind of an input. To be called before anything is read from the input. Dies if pjfold cannot fold the
 * input; the message shows its first unknown line. */
enum input_kind run_kind(struct in *input);

struct run {
	/* Result of the calling thread; after run_end(), the sum over all threads. */
	struct script script;
	unsigned threads;
	/* Results of the other threads, threads - 1 elements; NULL until several threads are needed, and after
	 * run_end(). */
	struct script *worker;
	/* All blocks of text read so far, in order. input: index in run.input. lines: number of lines in the block. */
	struct run_block {
		uint32_t input;
		uint64_t lines;
	} * block;
	size_t nblocks, blocks_cap;
	/* Names of all inputs so far, for messages. The strings belong to the callers. */
	const char **input;
	uint32_t ninputs;
};

/* Initializes *run for `threads` threads, at least 1. `options` must stay valid until run_free(). */
void run_init(struct run *run, const struct samples_options *options, unsigned threads);

/* Folds an input of perf script text to its end. The name of the input must stay valid until run_free(). */
void run_script(struct run *run, struct in *input);

/* Folds an input of another profiler to its end, in one thread. The name of the input must stay valid until run_free().
 */
void run_foreign(struct run *run, struct in *input);

/* Adds the results of all threads to run->script. Call it after the last input. */
void run_end(struct run *run);

/* Returns the position of a line in its input, for messages. block: index in run->block; line: number of the line in
 * this block, from 1. */
struct place run_place(const struct run *run, uint64_t block, uint64_t line);

/* Frees the memory of *run. */
void run_free(struct run *run);

#endif
