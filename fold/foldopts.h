/* SPDX-License-Identifier: Apache-2.0 */
/*
 * foldopts.h - command line of pjfold: one table of options that fills one struct.
 *
 * pjfold learns the kind of an input only when it opens the input. struct request therefore stores the names of the
 * first option that needs perf.data and of the first option that needs samples. pjfold uses them in the error message
 * for an input of another kind.
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
	/* Bit mask of 1 << enum names_kind: kinds of code whose names get a suffix (--kernel, --jit, --all,
	 * --annotate). Used only if kinds_given is true; otherwise all kinds get a suffix. */
	unsigned kinds_named;
	bool kinds_given;
	const char *from, *to;
	/* Each member is true if the option of the same name was given. */
	bool list_events, show_lost, header, strict, quiet, verbose;
	/* min_samples: weight below which a subtree becomes [other]. top: maximum number of rows of --top. threads:
	 * number of threads (-j). */
	uint64_t min_samples, top, threads;
	/* Percentage of lost samples (--max-lost) above which pjfold exits with status 3. */
	double max_lost;
	/* True if --max-lost (has_max_lost) or --top (top_given) was given. The values of these options cannot show
	 * whether they were given: --max-lost 0 is valid, and --top 0 is an error. */
	bool has_max_lost, top_given;
	/* tree: true: print the call tree (--tree). tree_percent: percentage of the total weight below which a callee
	 * gets no line of its own. */
	bool tree;
	double tree_percent;
	struct sortkeys sort; /* columns of --top, order of --top and --tree; sort_given: true if --sort was given */
	bool sort_given;
	/* Paths given with -i, in command-line order; ninputs elements. */
	const char **input;
	size_t ninputs;
	char **joined; /* all inputs if -i was given: paths of -i, operands, NULL; otherwise NULL */
	/* Options for perf.data. Its member `samples` points to `script`. */
	struct recording_options recording;
	/* info, unresolved, stacks: true: print the report of this option instead of folded stacks. unprivileged: true:
	 * open files without capabilities (--unprivileged). */
	bool info, unresolved, stacks, unprivileged;
	/* thread_dump: true: print the newest stack of each thread (--thread-dump). threads_file: path of the file that
	 * lists the threads to print; NULL: print all threads that have a stack. */
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
