/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bpftrace.h - reads maps of bpftrace whose keys have stacks: "@[ kstack, ustack, comm ]: N", as text or from -o json.
 *
 * The stacks of one key are joined in the order of the key, leaf first. Kernel code, recognized by its entry function,
 * always comes nearest to the leaf. The first word of a key becomes the root frame, further words the frames inside of
 * it. Numbers in keys are left out, since pid, tid, cpu and return values look alike. The name of a map is the event of
 * its samples, so that one map is folded at a time. Values that are not counts (histograms, averages) are skipped and
 * counted.
 */
#ifndef PJ_BPFTRACE_H
#define PJ_BPFTRACE_H

#include "fold/foreign/foreignstack.h"
#include "fold/foreign/jsonlines.h"

struct bpftrace {
	struct foreignstack *stack;
	bool open;       /* text format: true if the key continues on the next line */
	struct text map; /* name of the current map, with its '@' */
	struct text key; /* text of the current key after the '[' */
	struct jsonlines json;
};

/* Initializes *bpftrace; bpftrace_free() frees it. Samples are added through `stack`, which must stay valid until then.
 * is_json: the input comes from bpftrace -o json. */
void bpftrace_begin(struct bpftrace *bpftrace, struct foreignstack *stack, bool is_json);

/* Reads a line. Returns false if the line is malformed. */
bool bpftrace_line(struct bpftrace *bpftrace, struct str line);

void bpftrace_free(struct bpftrace *bpftrace);

#endif
