/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summary.h - pjfold's summary on stderr and its exit status.
 *
 * The summary is one sentence (judgement.h), after a line for each malformed input or file. With --verbose, all counts
 * and a line for each further cause of missing names and callers precede the sentence.
 */
#ifndef PJ_SUMMARY_H
#define PJ_SUMMARY_H

#include "fold/foldopts.h"
#include "fold/run.h"
#include "fold/threads/threadtext.h"

/* Results of reading all inputs. */
struct result {
	/* Result of folding text of samples. run.script.samples has the call tree of all inputs, perf.data included. */
	struct run run;
	/* Sums over all inputs of folded stacks. header: sum of the headers of the inputs. folded: numbers of the lines
	 * of the inputs. */
	struct folded_header header;
	struct folded_tally folded;
	/* Result of --as-flamegraph. */
	struct asflamegraph flamegraph;
	/* Counts and problems of all perf.data inputs. */
	struct recording_tally recording;
	/* Result of --thread-dump. */
	struct threadreport threads;
	/* Number of columns of weights in the folded inputs; 0: no folded input was read. */
	unsigned columns;
	/* True if an input has samples: perf.data, perf script text, or text of another profiler. */
	bool script;
	/* text: true if an input is text of samples, from perf script or another profiler. foreign: true if an input is
	 * text of another profiler. */
	bool text, foreign;
	/* True if an input could not be read to its end (damaged gzip). */
	bool damaged;
	/* Number of files that --time-slice wrote. */
	uint64_t slices;
};

/* Prints the summary, adds its facts to res->recording.judgement, and returns the exit status: PJ_OK, PJ_FAILED, or
 * PJ_THRESHOLD if --max-lost is exceeded. */
int summary(const struct request *request, struct result *res);

#endif
