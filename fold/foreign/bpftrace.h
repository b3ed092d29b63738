/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bpftrace.h - maps of bpftrace whose keys have stacks: "@[ kstack, ustack, comm ]: N", as text or by -o json.
 *
 * Stacks of one key follow each other as the key lists them, leaf first; kernel code, known by the function at which
 * the kernel is entered, comes first in any case. The first word in a key is the first frame, further words are its
 * callees; numbers are left out: pid, tid, cpu and return values look alike. The name of a map is its event, so that
 * one map is folded at a time. Values that are no counts (histograms, averages) are skipped and counted.
 */
#ifndef PJ_BPFTRACE_H
#define PJ_BPFTRACE_H

#include "fold/foreign/foreignstack.h"
#include "fold/foreign/jsonlines.h"

struct bpftrace {
	struct foreignstack *stack;
	bool open;       /* text: the key is not complete */
	struct text map; /* name of the map, '@' included */
	struct text key; /* text after the '[' */
	struct jsonlines json;
};

/* stack: where samples go; it must stay. is_json: the input is that of -o json. */
void bpftrace_begin(struct bpftrace *bpftrace, struct foreignstack *stack, bool is_json);

/* Takes a line. Returns false if it is not understood. */
bool bpftrace_line(struct bpftrace *bpftrace, struct str line);

void bpftrace_free(struct bpftrace *bpftrace);

#endif
