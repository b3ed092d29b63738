/* SPDX-License-Identifier: Apache-2.0 */
/*
 * asflamegraph.h - folds perf script text exactly as FlameGraph's stackcollapse-perf.pl (41fee1f).
 *
 * For `pjfold --as-flamegraph`: users who switch can compare byte for byte. The oddities of that script are here, too:
 * a line is classified by its text alone, never by its position, quotes are removed, a frame whose symbol starts with
 * '(' is dropped, `operator->` becomes two frames. docs/INPUTS.md lists them.
 *
 * The exceptions, all of them:
 * - The last sample counts even if no empty line ends it.
 * - Weights are integers of at most 63 bits in total: a sample that does not fit is left out and counted. (There: a
 *   float.)
 * - Source lines are not looked up with addr2line: no counterpart of --inline and --context.
 *
 * The caller passes line after line. A header opens a sample, frame lines fill it, an empty line closes it and adds it
 * to the profile. Naming rules run once for each distinct (symbol without offset, DSO); repeated ones cost a hash.
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
	bool pid;     /* the first frame is comm-PID ('?' when the input shows only a thread) */
	bool tid;     /* the first frame is comm-PID/TID; wins over pid */
	bool kernel;  /* _[k] after frames whose DSO starts with '[' or ends in vmlinux, unless it contains unknown */
	bool jit;     /* _[j] after frames of /tmp/perf-PID.map */
	bool addrs;   /* frames without a symbol show their address */
	bool srcline; /* a frame line is followed by a line with its place in the source (perf script -F +srcline) */
	bool samples; /* every sample weighs 1; else its period, or 1 when that is 0 or missing */
	struct str event; /* only samples of the event of exactly this name; empty: of the first one seen. Borrowed */
};

/* The names of a frame line, as a range in the pool. */
struct asflamegraph_names {
	size_t first; /* 0: not computed yet */
	uint32_t n;
	uint32_t lines; /* number of source lines that follow */
};

struct asflamegraph_ids {
	uint32_t *id;
	size_t n, cap;
};

/* Zero but for the options is ready to use. Callers may read all members. */
struct asflamegraph {
	struct asflamegraph_options options;

	uint64_t samples;                   /* added to the profile */
	uint64_t stackless;                 /* of these, without a frame: the stack is the first frame alone */
	uint64_t skipped;                   /* headers of other events */
	uint64_t stray;                     /* frame lines outside of any sample, ignored */
	uint64_t overflows;                 /* samples left out because 63 bits do not hold their weight */
	uint64_t unrecognized;              /* all other lines, ignored */
	struct place first_unrecognized[3]; /* name NULL where there is none */
	struct place first_overflow;        /* the header of that sample */
	struct str event;                   /* event whose samples count; empty before the first sample */
	struct str skipped_event;           /* the first other event */

	/* The open sample; comm.n == 0: there is none. */
	struct text comm;
	bool java;     /* comm starts with "java" */
	bool skipping; /* frames belong to a sample of another event */
	uint64_t weight;
	struct place header;
	struct asflamegraph_ids stack; /* frames so far, innermost first */

	/* A frame line whose source lines follow. */
	struct asflamegraph_ids waiting, part;
	size_t waiting_at, waiting_lines;

	/* Cache of frame lines. */
	struct intern keys;
	struct asflamegraph_names *names; /* by 2 * key + java */
	size_t nnames;
	struct asflamegraph_ids pool;
	struct intern fp; /* with srcline: names before the source line is appended; else they are s->frames */

	struct text name, source; /* being written */
	struct arena bytes;
};

/* Takes the next line, without its newline. `place` is for messages; its name must live as long as asflamegraph. */
void asflamegraph_line(struct asflamegraph *asflamegraph, struct str line, struct place place, struct stacks *stacks);

/* Closes the open sample at the end of the input. Several files are one input, as for perl: call it after the last. */
void asflamegraph_end(struct asflamegraph *asflamegraph, struct stacks *stacks);

void asflamegraph_free(struct asflamegraph *asflamegraph);

/*
 * Writes "stack weight\n", sorted by the bytes of complete stacks, not depth first. Needs memory for the text of all
 * stacks and a pointer for each. A stack whose periods are all "00" has the weight 0 and is written, too: column 1 of
 * stacks marks it.
 */
void asflamegraph_write(struct out *out, const struct stacks *stacks);

#endif
