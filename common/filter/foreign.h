/* SPDX-License-Identifier: Apache-2.0 */
/*
 * foreign.h - recognizes the formats of other profilers by the first lines of an input.
 *
 * In most of these formats, lines end in a number, so tools that read folded stacks would accept them. Instead, a
 * message names the format and the program that converts it. For the formats of fold/foreign/, that is pjfold.
 */
#ifndef PJ_FOREIGN_H
#define PJ_FOREIGN_H

#include "common/str.h"

/* Formats of inputs. FOREIGN_NONE: no known foreign format; FOREIGN_OTHER: a known format that pjfold cannot read;
 * other values: formats that pjfold reads. */
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

/* Number of bytes at the start of an input that are needed to recognize its format. */
#define FOREIGN_HEAD 4096

/* Returns the format of an input by `head`: its first FOREIGN_HEAD bytes, or all bytes of a shorter input. Pure. */
enum foreign_kind foreign_kind(struct str head);

/* Returns a static text with the format of the input and advice; NULL if the format is not known. head: first
 * FOREIGN_HEAD bytes, or all bytes of a shorter input. Pure. */
const char *foreign_format(struct str head);

#endif
