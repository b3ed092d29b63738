/* SPDX-License-Identifier: Apache-2.0 */
/*
 * foreign.h - recognizes formats of other profilers by the first lines of an input.
 *
 * Lines of most of these formats end in a number, so tools that read folded stacks would accept them. Instead, a
 * message names the format and the program that converts it: pjfold for the formats that pjfold reads (fold/foreign/).
 */
#ifndef PJ_FOREIGN_H
#define PJ_FOREIGN_H

#include "common/str.h"

/* Formats that pjfold reads. FOREIGN_OTHER: a known format that pj does not read; FOREIGN_NONE: no known format. */
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

/* Number of bytes at the start of an input by which its format is recognized. */
#define FOREIGN_HEAD 4096

/* Returns the format of an input. head: its first FOREIGN_HEAD bytes, or all of a shorter input. Pure. */
enum foreign_kind foreign_kind(struct str head);

/* Returns a message with the name of the input's format and advice, a static text; NULL if the format is not known.
 * head: as for foreign_kind(). Pure. */
const char *foreign_format(struct str head);

#endif
