/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summary.h - pjfold's summary on stderr and its exit status.
 *
 * The summary is one sentence (judgement.h), after a line for each malformed input and file. --verbose adds all counts,
 * and a line for each further cause of missing names and callers.
 */
#ifndef PJ_SUMMARY_H
#define PJ_SUMMARY_H

#include "fold/foldopts.h"
#include "fold/run.h"

/* Everything that was read from the inputs. */
struct result {
	/* Perf script text; run.script.samples is the tree with the stacks of all inputs. */
	struct run run;
	/* Sums over the headers and lines of folded inputs. */
	struct folded_header header;
	struct folded_tally folded;
	/* Result of --as-flamegraph. */
	struct asflamegraph flamegraph;
	/* Sums over all perf.data inputs. */
	struct recording_tally recording;
	/* Number of columns of the folded inputs; 0: no folded input was read. */
	unsigned columns;
	/* An input has samples: perf script text or perf.data. */
	bool script;
	/* An input is text of samples; one of them is of another profiler than perf. */
	bool text, foreign;
	/* An input is damaged. */
	bool damaged;
	/* Number of files that --time-slice wrote. */
	uint64_t slices;
};

/* Prints the summary, adds its facts to res->recording.judgement, and returns the exit status: PJ_OK, PJ_FAILED, or
 * PJ_THRESHOLD if --max-lost is exceeded. */
int summary(const struct request *request, struct result *res);

#endif
