/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names.h - all naming rules: from what perf says of a frame to what a reader wants to see.
 *
 * One place makes frame names, whatever they come from (text, perf maps, later perf.data and timelines), so the same
 * function has the same spelling everywhere. The rules are listed in docs/INPUTS.md; each has a test in
 * test/fold/names/names_test.c. A name never holds ';', newline or other control bytes, never ends in blank and digits,
 * and is never empty.
 */
#ifndef PJ_NAMES_H
#define PJ_NAMES_H

#include "common/text.h"

/* Kinds of code, told by a suffix of the name. */
enum names_kind {
	KIND_NATIVE,      /* no suffix */
	KIND_KERNEL,      /* _[k] kernel, its modules, BPF */
	KIND_JIT,         /* _[j] compiled at run time */
	KIND_C1,          /* _[1] compiled by HotSpot's C1 */
	KIND_INLINED,     /* _[i] inlined into its caller */
	KIND_INTERPRETED, /* _[0] run by an interpreter */
};

#define NAMES_ALL_KINDS \
	(1u << KIND_KERNEL | 1u << KIND_JIT | 1u << KIND_C1 | 1u << KIND_INLINED | 1u << KIND_INTERPRETED)

/* One frame as perf describes it. */
struct names_frame {
	struct str symbol;  /* without +0xOFFSET; empty or "[unknown]": not known */
	struct str dso;     /* path or [name], as printed; empty: not known */
	struct str address; /* hex digits, for unresolved frames with --addrs; else empty */
	struct str line;    /* "file:line", shown behind the innermost name; or empty */
	bool inlined;       /* DWARF inlining: symbol is a callee that has no code of its own */
	bool interpreted;   /* a method of a JVM that its interpreter runs, which has no code of its own either */
};

struct names {
	unsigned kinds;   /* set of 1 << KIND_*: which suffixes are written */
	bool hotspot;     /* keep the JDK's spelling of Java methods */
	bool addresses;   /* show the address of what has no symbol */
	struct text text; /* scratch and result */
};

/* The names of a frame, outermost first, one a line (perf-map-agent packs inlining into one symbol: "a->b"). The
 * result lives until the next call. */
struct str names_make(struct names *names, struct names_frame frame);

/* A comm as first frame: blanks are '_'. canonical: without the digits that tell threads of one pool apart. */
struct str names_comm(struct names *names, struct str comm, bool canonical);

/* Is this a frame without symbol? */
bool names_unresolved(struct names_frame frame);

void names_free(struct names *names);

#endif
