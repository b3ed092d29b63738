/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simpleperf.h - the text of Android's simpleperf report-sample: "sample:" and indented members.
 *
 * The other text of simpleperf, of report_sample.py, looks like that of perf script; script/perfscript.h reads it.
 */
#ifndef PJ_SIMPLEPERF_H
#define PJ_SIMPLEPERF_H

#include "fold/foreign/foreignstack.h"

struct simpleperf {
	struct foreignstack *stack;
	bool open;     /* a sample is open */
	bool in_frame; /* a frame is open: its members are read */
	struct sample_key key;
	struct text comm, event, dso, symbol;
	size_t name; /* length of the thread name in comm; the TID follows */
};

/* Prepares *simpleperf, which simpleperf_free() frees. Samples are added through `stack`, which must stay valid until
 * then. */
void simpleperf_begin(struct simpleperf *simpleperf, struct foreignstack *stack);

/* Reads a line. Members of samples that are not used here are no errors. */
void simpleperf_line(struct simpleperf *simpleperf, struct str line);

/* Adds the last sample. */
void simpleperf_end(struct simpleperf *simpleperf);

void simpleperf_free(struct simpleperf *simpleperf);

#endif
