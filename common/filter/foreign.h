/* SPDX-License-Identifier: Apache-2.0 */
/*
 * foreign.h - formats of other profilers, by their first lines.
 *
 * Lines of most of them end in a number, so they would be read as folded stacks. The message names the format and the
 * program that converts it: pjfold for those that it reads (fold/foreign/).
 */
#ifndef PJ_FOREIGN_H
#define PJ_FOREIGN_H

#include "common/str.h"

/* A format that pjfold reads; FOREIGN_OTHER: one that pj does not read; FOREIGN_NONE: none of them. */
enum foreign_kind {
	FOREIGN_NONE,
	FOREIGN_OTHER,
	FOREIGN_BPFTRACE,
	FOREIGN_BPFTRACE_JSON,
	FOREIGN_BCC,
	FOREIGN_THREADS,
	FOREIGN_JFR,
	FOREIGN_JFR_JSON,
	FOREIGN_SIMPLEPERF,
};

/* Number of bytes at the start of an input that decide. */
#define FOREIGN_HEAD 4096

/* Returns the format of an input by its first bytes, FOREIGN_HEAD if it has as many. Pure. */
enum foreign_kind foreign_kind(struct str head);

/* Returns the name of the format with advice, a static text; NULL if the input is of no such format. head: the first
 * bytes of the input, 4 KB if it has as many. Pure. */
const char *foreign_format(struct str head);

#endif
