/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.h - inputs become blocks, blocks are folded by as many threads as asked.
 *
 * Reading is one after the other, under a lock, always in blocks of the same size that end at a border between
 * samples; folding a block needs nothing but the block. So where borders fall, and what comes out, depends neither on
 * the number of threads nor on whether the input is a file, a pipe or gzip.
 */
#ifndef PJ_RUN_H
#define PJ_RUN_H

#include "common/formats/folded.h"
#include "fold/script/perfscript.h"

enum input_kind { INPUT_SCRIPT, INPUT_FOLDED, INPUT_RECORDING, INPUT_EMPTY };

/* What in is, of which nothing was read; dies with what was seen when it is nothing that can be folded. */
enum input_kind run_kind(struct in *input);

struct run {
	struct script script; /* the result, after run_end */
	unsigned threads;
	struct script *worker; /* threads - 1 of them, made when first needed */
	struct run_block {
		uint32_t input; /* index of the input */
		uint64_t lines;
	} * block; /* of the whole run */
	size_t nblocks, blocks_cap;
	const char **input; /* names */
	uint32_t ninputs;
};

void run_init(struct run *run, const struct samples_options *options, unsigned threads);

/* Folds all of in. */
void run_script(struct run *run, struct in *input);

/* Adds up what the threads did. */
void run_end(struct run *run);

/* Where in the input a block's line stands. */
struct place run_place(const struct run *run, uint64_t block, uint64_t line);

void run_free(struct run *run);

#endif
