/* SPDX-License-Identifier: Apache-2.0 */
/*
 * foldopts.h - command line of pjfold: one table of options that fills one struct.
 *
 * The kind of an input is known only after it was opened. The struct therefore stores the name of the first option that
 * needs perf.data, and of the first one that needs samples; pjfold refuses an input that does not satisfy it.
 */
#ifndef PJ_FOLDOPTS_H
#define PJ_FOLDOPTS_H

#include "fold/script/asflamegraph.h"
#include "fold/recording.h"
#include "fold/report.h"

/* All options of pjfold. Zero values are the defaults, except for `threads`, which foldopts_parse() sets to 1. */
struct request {
	/* Options of the samples (of text and of perf.data), and those of --as-flamegraph. */
	struct samples_options script;
	struct asflamegraph_options flamegraph;
	bool as_flamegraph;
	/* Kinds of code, 1 << enum names_kind, that --kernel, --jit, --all and --annotate select for a suffix. They
	 * replace the default if kinds_given is set. */
	unsigned kinds_named;
	bool kinds_given;
	const char *from, *to;
	/* Flags with the name of their option. */
	bool list_events, show_lost, header, strict, quiet, verbose;
	/* Weights below min_samples are merged into [other]. top: number of rows of --top. */
	uint64_t min_samples, top, threads;
	/* Percentage of lost samples above which pjfold exits with status 3. */
	double max_lost;
	/* --max-lost, --top were given: 0 is a valid value of the first and an error of the second. */
	bool has_max_lost, top_given;
	/* --tree: prints the call tree, callees of less than tree_percent of all weight summed up. */
	bool tree;
	double tree_percent;
	enum report_sort sort; /* order of --top */
	bool sort_given;
	/* Inputs of -i, in front of the operands; NULL at the end. */
	const char **input;
	size_t ninputs;
	char **joined; /* the inputs of -i and the operands */
	/* Options for perf.data; it refers to `script`. */
	struct recording_options recording;
	/* Reports in place of folded stacks; unprivileged: open files without capabilities. */
	bool info, unresolved, stacks, unprivileged;
	/* First option that needs perf.data; empty if there is none. For the error message. */
	char recording_option[32];
	/* First option that needs samples, and not folded stacks; empty if there is none. For the error message. */
	char sample_option[32];
	/* Output file; NULL: standard output. */
	const char *out;
};

/* Parses the command line into *request, which must be zero. argv becomes the operands. Dies with a usage message on
 * options that are invalid or contradict each other. *request must not move: it contains pointers to itself. */
void foldopts_parse(struct request *request, int argc, char ***argv);

/* Frees the memory of the options. */
void foldopts_free(struct request *request);

#endif
