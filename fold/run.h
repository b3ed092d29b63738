/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.h - division of perf script text into blocks, and threads that fold them; texts of other profilers, by one
 * thread.
 *
 * One thread at a time reads, under a lock, a block of constant size that ends at a boundary between samples. Folding a
 * block needs only this block. Block boundaries and the result therefore depend neither on the number of threads nor on
 * the kind of input (file, pipe, gzip).
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

/* Kinds of input: perf script text, folded stacks, perf.data, a text of another profiler (fold/foreign/), no data. */
enum input_kind { INPUT_SCRIPT, INPUT_FOLDED, INPUT_RECORDING, INPUT_FOREIGN, INPUT_EMPTY };

/* Returns the kind of an input of which nothing was read yet. Dies with the first unknown line if pjfold cannot fold
 * the input. */
enum input_kind run_kind(struct in *input);

struct run {
	/* The result, valid after run_end(). */
	struct script script;
	unsigned threads;
	/* Results of the other threads: threads - 1, created when first needed. */
	struct script *worker;
	/* The blocks of text that were read so far. input: index in the member `input` of struct run. */
	struct run_block {
		uint32_t input;
		uint64_t lines;
	} * block;
	size_t nblocks, blocks_cap;
	/* Names of the inputs. */
	const char **input;
	uint32_t ninputs;
};

/* Prepares a run with this number of threads, at least 1. `options` must stay valid until run_free(). */
void run_init(struct run *run, const struct samples_options *options, unsigned threads);

/* Folds one input to its end. The input's name must stay valid until run_free(). */
void run_script(struct run *run, struct in *input);

/* The same for a text of another profiler. */
void run_foreign(struct run *run, struct in *input);

/* Merges the results of all threads into run->script. */
void run_end(struct run *run);

/* Returns the position of a line in its input, for messages; `line` counts from 1 in its block. */
struct place run_place(const struct run *run, uint64_t block, uint64_t line);

/* Frees the results. */
void run_free(struct run *run);

#endif
