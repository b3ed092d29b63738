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
	bool open;     /* in a sample */
	bool in_frame; /* the members of a frame have come */
	struct sample_key key;
	struct text comm, event, dso, symbol;
	size_t name; /* bytes of the name in comm */
};

/* stack: where samples go; it must stay. */
void simpleperf_begin(struct simpleperf *simpleperf, struct foreignstack *stack);

/* Takes a line. Members that are not used are no errors. */
void simpleperf_line(struct simpleperf *simpleperf, struct str line);

/* Adds the last sample. */
void simpleperf_end(struct simpleperf *simpleperf);

void simpleperf_free(struct simpleperf *simpleperf);

#endif
