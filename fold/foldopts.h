/* SPDX-License-Identifier: Apache-2.0 */
/*
 * foldopts.h - pjfold's command line: one table, one struct.
 */
#ifndef PJ_FOLDOPTS_H
#define PJ_FOLDOPTS_H

#include "fold/script/asflamegraph.h"
#include "fold/recording.h"

/* What the command line asks for. */
struct request {
	struct samples_options script;
	struct asflamegraph_options flamegraph;
	bool as_flamegraph;
	unsigned kinds_named; /* by --kernel, --jit, --all, --annotate: they replace the default */
	bool kinds_given;
	const char *from, *to;
	bool list_events, show_lost, header, strict, quiet;
	uint64_t min_samples, top, threads;
	double max_lost;
	bool has_max_lost, top_given;
	struct recording_options recording;
	bool info, unresolved, stacks, unprivileged;
	char recording_option[32]; /* the first option that needs perf.data, or empty */
	char sample_option[32];    /* the first option that needs samples, for the message; or empty */
	const char *out;
};

/* Fills *request, which is zero; argv becomes the operands. Dies on what cannot be meant. *request must stay where it
 * is. */
void foldopts_parse(struct request *request, int argc, char ***argv);

void foldopts_free(struct request *request);

#endif
