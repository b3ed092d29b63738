/* SPDX-License-Identifier: Apache-2.0 */
/*
 * asflamegraph.h - perf script text, folded exactly as FlameGraph's stackcollapse-perf.pl folds it.
 *
 * For `pjfold --as-flamegraph`: who switches can compare byte for byte before trusting the better rules of the
 * default parser. So everything is as it is there (41fee1f), also what is odd: a line is judged by its own looks and
 * never by where it stands, quotes vanish, a frame whose symbol starts with '(' vanishes, `operator->` becomes two
 * frames. docs/INPUTS.md lists the oddities.
 *
 * The exceptions, all of them:
 * - The last sample counts also when no empty line ends it.
 * - Weights are whole numbers of at most 63 bits in total: a sample that does not fit is left out and counted. (There:
 *   a float.)
 * - Source lines are not looked up with addr2line: no counterpart of --inline and --context.
 *
 * The model: lines come in one by one. A header opens a sample, frame lines fill it, an empty line closes it and adds
 * it to the profile. Naming rules run once per distinct (symbol without offset, DSO); a known one costs a hash.
 *
 * All bytes that may stand in a line may stand in a frame; ';' always separates frames.
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
	bool kernel;  /* _[k] behind frames whose DSO starts with '[' or ends in vmlinux, unless it says unknown */
	bool jit;     /* _[j] behind frames of /tmp/perf-PID.map */
	bool addrs;   /* frames without a symbol show their address */
	bool srcline; /* a frame line is followed by a line with its place in the source (perf script -F +srcline) */
	bool samples; /* every sample weighs 1; else its period, or 1 when that is 0 or missing */
	struct str event; /* only samples of the event of exactly this name; empty: of the first one seen. Borrowed */
};

/* The names of a frame line: where in the pool. */
struct asflamegraph_names {
	size_t first; /* 0: not known yet */
	uint32_t n;
	uint32_t lines; /* that many source lines follow */
};

struct asflamegraph_ids {
	uint32_t *id;
	size_t n, cap;
};

/* {0} with options is ready to use. Read anything; only the functions below write. */
struct asflamegraph {
	struct asflamegraph_options options;

	uint64_t samples;                   /* added to the profile */
	uint64_t stackless;                 /* of these, without a frame: the stack is the first frame alone */
	uint64_t skipped;                   /* headers of other events */
	uint64_t stray;                     /* frame lines outside of any sample, ignored */
	uint64_t overflows;                 /* samples left out because 63 bits do not hold their weight */
	uint64_t unrecognized;              /* lines that are nothing of the above, ignored */
	struct place first_unrecognized[3]; /* name NULL where there is none */
	struct place first_overflow;        /* the header of that sample */
	struct str event;                   /* whose samples count; empty until one was seen */
	struct str skipped_event;           /* the first other one */

	/* The open sample; comm.n == 0: there is none. */
	struct text comm;
	bool java;     /* comm starts with it */
	bool skipping; /* frames belong to a sample of another event */
	uint64_t weight;
	struct place header;
	struct asflamegraph_ids stack; /* frames so far, innermost first */

	/* A frame line whose source lines are still to come. */
	struct asflamegraph_ids waiting, part;
	size_t waiting_at, waiting_lines;

	/* Frame lines seen before. */
	struct intern keys;
	struct asflamegraph_names *names; /* by 2 * key + java */
	size_t nnames;
	struct asflamegraph_ids pool;
	struct intern fp; /* with srcline: names before the source line is appended; else they are s->frames */

	struct text name, source; /* being written */
	struct arena bytes;
};

/* The next line, without its newline. `at` is kept for messages; its name must live as long as asflamegraph. */
void asflamegraph_line(struct asflamegraph *asflamegraph, struct str line, struct place place, struct stacks *stacks);

/* The input is over: closes the open sample. As perl sees several files as one input, call it after the last of them.
 */
void asflamegraph_end(struct asflamegraph *asflamegraph, struct stacks *stacks);

void asflamegraph_free(struct asflamegraph *asflamegraph);

/*
 * "stack weight\n" in the order of the bytes of whole stacks, not depth first. Takes one copy of all stacks' text and
 * a pointer each. A stack whose periods were all written "00" weighs 0 and is there, too: column 1 of stacks marks it.
 */
void asflamegraph_write(struct out *out, const struct stacks *stacks);

#endif
