/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summary.h - what pjfold says of its work: one line on stderr, a few more where something was not as it should be,
 * and the exit status. Nothing is skipped, lost or left out without being named here.
 */
#ifndef PJ_SUMMARY_H
#define PJ_SUMMARY_H

#include "fold/foldopts.h"
#include "fold/run.h"

/* What was read. */
struct result {
	struct run run;
	struct folded_header header;
	struct folded_tally folded;
	struct asflamegraph flamegraph;
	struct recording_tally recording;
	unsigned columns; /* of folded inputs; 0: none yet */
	bool script;      /* samples: of text or perf.data */
	bool text;        /* of text */
	bool damaged;
	uint64_t slices; /* written */
};

/* Says it all, and returns the exit status. */
int summary(const struct request *request, const struct result *res);

#endif
