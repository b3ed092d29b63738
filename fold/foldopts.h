/* SPDX-License-Identifier: Apache-2.0 */
/*
 * foldopts.h - command line of pjfold: one table of options that fills one struct.
 *
 * pjfold knows the kind of an input only after opening it. The struct therefore stores the name of the first option
 * that needs perf.data, and of the first one that needs samples; pjfold refuses an input of another kind.
 */
#ifndef PJ_FOLDOPTS_H
#define PJ_FOLDOPTS_H

#include "fold/script/asflamegraph.h"
#include "fold/recording.h"
#include "fold/sortkeys.h"

/* All options of pjfold. Zero values are the defaults, except for `threads`, which foldopts_parse() sets to 1. */
struct request {
	/* script: options for samples from text and perf.data. flamegraph: options of --as-flamegraph. */
	struct samples_options script;
	struct asflamegraph_options flamegraph;
	bool as_flamegraph;
	/* Set of 1 << enum names_kind: the kinds of code whose names get a suffix, from --kernel, --jit, --all and
	 * --annotate. Valid if kinds_given is set; otherwise all kinds get one. */
	unsigned kinds_named;
	bool kinds_given;
	const char *from, *to;
	/* Flags, each set by the option of the same name. */
	bool list_events, show_lost, header, strict, quiet, verbose;
	/* min_samples: subtrees of a smaller weight become [other]. top: maximum number of rows of --top. threads:
	 * number of threads that fold. */
	uint64_t min_samples, top, threads;
	/* Percentage of lost samples (--max-lost) above which pjfold exits with status 3. */
	double max_lost;
	/* True if --max-lost or --top was given. The value does not show it: --max-lost 0 is valid, --top 0 is an
	 * error. */
	bool has_max_lost, top_given;
	/* --tree: print the call tree. Callees below tree_percent % of the sum of weights have no line of their own. */
	bool tree;
	double tree_percent;
	struct sortkeys sort; /* columns of --top, and order of --top and --tree; sort_given: --sort sets it */
	bool sort_given;
	/* The ninputs files of -i, in the order of the command line. */
	const char **input;
	size_t ninputs;
	char **joined; /* files of -i, then the operands, then NULL; NULL without -i */
	/* Options for perf.data. Its member `samples` points to `script`. */
	struct recording_options recording;
	/* info, unresolved, stacks: print this report in place of folded stacks. unprivileged: open files without
	 * capabilities. */
	bool info, unresolved, stacks, unprivileged;
	/* --thread-dump: print the newest stack of each thread. threads_file: path of the list of threads to print;
	 * NULL: none. */
	bool thread_dump;
	const char *threads_file;
	/* For the error message: name of the first option that needs perf.data as input; empty if there is none. */
	char recording_option[32];
	/* For the error message: name of the first option that needs samples (not folded stacks) as input; empty if
	 * there is none. */
	char sample_option[32];
	/* Path of the output file; NULL: standard output. */
	const char *out;
};

/* Parses the command line into *request, which must be zero. *argv becomes the list of inputs, which ends with NULL.
 * Dies with a usage message on options that are invalid or contradict each other. *request must not move: it contains
 * pointers to itself. */
void foldopts_parse(struct request *request, int argc, char ***argv);

/* Frees the memory of the options. */
void foldopts_free(struct request *request);

#endif
