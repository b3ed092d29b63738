/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simpleperf.h - reads the text of Android's simpleperf report-sample: "sample:" and indented members.
 *
 * Text of report_sample.py, also a tool of simpleperf, looks like text of perf script; script/perfscript.h reads it.
 */
#ifndef PJ_SIMPLEPERF_H
#define PJ_SIMPLEPERF_H

#include "fold/foreign/foreignstack.h"

struct simpleperf {
	struct foreignstack *stack;
	bool open;     /* true if a sample is open */
	bool in_frame; /* true if a frame of the sample is open */
	struct sample_key key;
	struct text comm, event, dso, symbol;
	size_t name; /* length in bytes of the thread name in `comm`; the TID follows the name */
};

/* Initializes *simpleperf; simpleperf_free() frees it. Samples are added through `stack`, which must stay valid until
 * then. */
void simpleperf_begin(struct simpleperf *simpleperf, struct foreignstack *stack);

/* Reads a line. Members of samples that pjfold does not use are not errors. */
void simpleperf_line(struct simpleperf *simpleperf, struct str line);

/* Adds the last sample. */
void simpleperf_end(struct simpleperf *simpleperf);

void simpleperf_free(struct simpleperf *simpleperf);

#endif
