/* SPDX-License-Identifier: Apache-2.0 */
/*
 * asflamegraph.h - folds perf script text exactly as FlameGraph's stackcollapse-perf.pl (41fee1f).
 *
 * For `pjfold --as-flamegraph`: users who switch can compare byte for byte. pjfold then reproduces the oddities of that
 * script: a line is classified by its text alone, never by its position, quotes are removed, a frame whose symbol
 * starts with '(' is dropped, `operator->` becomes two frames. docs/INPUTS.md lists them.
 *
 * These are all exceptions:
 * - The last sample is added even if no empty line ends it.
 * - Weights are integers of at most 63 bits in total: a sample that does not fit is left out and counted. (The
 *   script uses floats.)
 * - Source lines are not looked up with addr2line: no counterpart of --inline and --context.
 *
 * The caller passes line after line. A header opens a sample, frame lines fill it, an empty line closes it and adds it
 * to the profile. Naming rules run once for each distinct (symbol without offset, DSO); a repeated line costs one hash.
 *
 * A frame may contain any byte of a line; ';' always separates frames.
 */
#ifndef PJ_ASFLAMEGRAPH_H
#define PJ_ASFLAMEGRAPH_H

#include "common/diag.h"
#include "common/filter/out.h"
#include "common/stacks.h"
#include "common/text.h"

struct asflamegraph_options {
	bool pid; /* true: the first frame is comm-PID, or comm-? if the header has only a TID */
	bool tid; /* true: the first frame is comm-PID/TID, whatever `pid` is */
	/* true: frames get _[k] if their DSO starts with '[' or ends in "vmlinux", and does not contain "unknown" */
	bool kernel;
	bool jit;     /* true: frames of /tmp/perf-PID.map get _[j] */
	bool addrs;   /* true: frames without a symbol show their address */
	bool srcline; /* true: a source line, FILE:LINE, follows each frame line (perf script -F +srcline) */
	bool samples; /* true: each sample has the weight 1; false: its period, or 1 if the period is 0 or missing */
	/* Name of the event whose samples are added to the profile; empty: the first event that is read. The text must
	 * stay valid. */
	struct str event;
};

/* The names of a frame line: a range of ids in `pool`, outermost frame first. */
struct asflamegraph_names {
	size_t first; /* index of the first name in `pool`; 0: not computed yet */
	uint32_t n;
	uint32_t lines; /* number of source lines after the frame line; 0 without srcline */
};

struct asflamegraph_ids {
	uint32_t *id;
	size_t n, cap;
};

/* State of the conversion. An object that is zero except for its options is valid. Callers may read all members. */
struct asflamegraph {
	struct asflamegraph_options options;

	uint64_t samples; /* number of samples added to the profile */
	/* number of samples added to the profile that have no frame lines: their stack is only the comm */
	uint64_t stackless;
	uint64_t skipped; /* number of sample headers with another event than `event` */
	uint64_t stray;   /* number of frame lines outside of any sample, which are ignored */
	/* number of samples left out because the total weight would exceed 63 bits */
	uint64_t overflows;
	uint64_t unrecognized; /* number of lines that are neither header nor frame, which are ignored */
	/* positions of the first unrecognized lines; an element whose name is NULL is unused */
	struct place first_unrecognized[3];
	struct place first_overflow; /* position of the header of the first sample in `overflows` */
	/* event whose samples are added to the profile; empty before the first sample */
	struct str event;
	struct str skipped_event; /* the first event in the input other than `event` */

	/* The open sample: text of its first frame. comm.n == 0: no sample is open. */
	struct text comm;
	bool java; /* true if comm starts with "java": names then follow the rules for Java */
	/* true if the next frame lines belong to a sample of another event, so that they are not counted in `stray` */
	bool skipping;
	uint64_t weight;
	struct place header;
	struct asflamegraph_ids stack; /* frame ids of the open sample, innermost first */

	/* A frame line that waits for its source lines. waiting: ids of its names in `plain`; part: ids of the frames
	 * made of names and source lines so far; both outermost first. waiting_at: index of the next name in `waiting`;
	 * waiting_lines: number of names that have source lines. */
	struct asflamegraph_ids waiting, part;
	size_t waiting_at, waiting_lines;

	/* Keys of the cache of frame lines: texts of the form "symbol (dso". */
	struct intern keys;
	/* entries of the cache; index: 2 * id in `keys`, plus 1 if the first frame starts with "java" */
	struct asflamegraph_names *names;
	size_t nnames;
	struct asflamegraph_ids pool;
	struct intern plain; /* names of frames before their source lines are appended; unused without srcline */

	struct text name, source; /* name: buffer for a frame name; source: buffer for a source line */
	struct arena bytes;
};

/* Processes the next line of the input, without its newline. `place` is the position of the line for messages;
 * place.name must stay valid until asflamegraph_free. */
void asflamegraph_line(struct asflamegraph *asflamegraph, struct str line, struct place place, struct stacks *stacks);

/* Adds the open sample at the end of the input. Call it after the last file: several files are treated as one input, as
 * in perl. */
void asflamegraph_end(struct asflamegraph *asflamegraph, struct stacks *stacks);

void asflamegraph_free(struct asflamegraph *asflamegraph);

/*
 * Writes a line "stack weight\n" for each stack, sorted by the bytes of complete stacks, not depth first. Needs memory
 * for the text of all stacks and a pointer for each. A stack whose periods are all "00" is written with weight 0: a
 * mark in column 1 of `stacks` distinguishes it.
 */
void asflamegraph_write(struct out *out, const struct stacks *stacks);

#endif
