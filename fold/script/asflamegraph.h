/* SPDX-License-Identifier: Apache-2.0 */
/*
 * asflamegraph.h - folds perf script text exactly as FlameGraph's stackcollapse-perf.pl (41fee1f).
 *
 * For `pjfold --as-flamegraph`: users who switch can compare byte for byte. The oddities of that script are kept:
 * a line is classified by its text alone, never by its position, quotes are removed, a frame whose symbol starts with
 * '(' is dropped, `operator->` becomes two frames. docs/INPUTS.md lists them.
 *
 * The exceptions, all of them:
 * - The last sample counts even if no empty line ends it.
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
	bool pid;     /* the first frame is comm-PID, or comm-? if the header has only a TID */
	bool tid;     /* the first frame is comm-PID/TID, whatever `pid` is */
	bool kernel;  /* frames get _[k] if their DSO starts with '[' or ends in "vmlinux", and does not contain
			 "unknown" */
	bool jit;     /* frames of /tmp/perf-PID.map get _[j] */
	bool addrs;   /* frames without a symbol show their address */
	bool srcline; /* a frame line is followed by a line with its place in the source (perf script -F +srcline) */
	bool samples; /* each sample has the weight 1; otherwise its period, or 1 if the period is 0 or missing */
	struct str event; /* name of the event whose samples count; empty: the first one read. Not copied */
};

/* The names of a frame line: a range of ids in `pool`, outermost frame first. */
struct asflamegraph_names {
	size_t first; /* index of the first name in `pool`; 0: not computed yet */
	uint32_t n;
	uint32_t lines; /* number of source lines that follow the frame line; 0 without srcline */
};

struct asflamegraph_ids {
	uint32_t *id;
	size_t n, cap;
};

/* State of the conversion. An object that is zero except for its options is valid. Callers may read all members. */
struct asflamegraph {
	struct asflamegraph_options options;

	uint64_t samples;                   /* number of samples added to the profile */
	uint64_t stackless;                 /* samples of these without frame lines: their stack is the comm alone */
	uint64_t skipped;                   /* number of headers of events other than `event` */
	uint64_t stray;                     /* number of frame lines outside of any sample, which are ignored */
	uint64_t overflows;                 /* samples left out because the total weight would exceed 63 bits */
	uint64_t unrecognized;              /* number of lines that are neither header nor frame, which are ignored */
	struct place first_unrecognized[3]; /* places of the first unrecognized lines; name NULL: none */
	struct place first_overflow;        /* place of the header of the first sample in `overflows` */
	struct str event;                   /* event whose samples count; empty before the first sample */
	struct str skipped_event;           /* the first event in the input other than `event` */

	/* The open sample: text of its first frame. comm.n == 0: no sample is open. */
	struct text comm;
	bool java;     /* comm starts with "java" */
	bool skipping; /* the next frame lines belong to a sample of another event */
	uint64_t weight;
	struct place header;
	struct asflamegraph_ids stack; /* frame ids of the open sample, innermost first */

	/* A frame line whose source lines follow: name ids in `plain`, and frame ids made of them and their source
	 * lines, both outermost first. Next name in `waiting`, and number of names that have source lines. */
	struct asflamegraph_ids waiting, part;
	size_t waiting_at, waiting_lines;

	/* Cache of frame lines: `keys` interns "symbol (dso". */
	struct intern keys;
	struct asflamegraph_names *names; /* indexed by 2 * id in `keys` + java */
	size_t nnames;
	struct asflamegraph_ids pool;
	struct intern plain; /* names of frames before their source lines are appended; unused without srcline */

	struct text name, source; /* buffers: a frame name, a source line */
	struct arena bytes;
};

/* Takes the next line, without its newline. `place` is the line's place for messages; its name must stay valid as
 * long as asflamegraph. */
void asflamegraph_line(struct asflamegraph *asflamegraph, struct str line, struct place place, struct stacks *stacks);

/* Adds the open sample at the end of the input. Several files are one input, as in perl: call this after the last file.
 */
void asflamegraph_end(struct asflamegraph *asflamegraph, struct stacks *stacks);

void asflamegraph_free(struct asflamegraph *asflamegraph);

/*
 * Writes a line "stack weight\n" for each stack, sorted by the bytes of complete stacks, not depth first. Needs memory
 * for the text of all stacks and a pointer for each. A stack whose periods are all "00" has the weight 0 and is
 * written, too: column 1 of stacks marks it.
 */
void asflamegraph_write(struct out *out, const struct stacks *stacks);

#endif
