/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names.h - all naming rules: makes the name that is shown for a frame, from its symbol and DSO as perf prints them.
 *
 * All frame names are made here, from each source (text, perf maps, perf.data, code timelines), so that a function has
 * the same spelling everywhere. docs/INPUTS.md lists the rules; each of them has a test in
 * test/fold/names/names_test.c. A name never contains ';', newline or other control characters, never ends in a blank
 * and digits, and is never empty.
 *
 *     struct names names = { .kinds = NAMES_ALL_KINDS };
 *     shown = names_make(&names, (struct names_frame){ .symbol = symbol, .dso = dso });
 */
#ifndef PJ_NAMES_H
#define PJ_NAMES_H

#include "common/text.h"

/* Kinds of code, shown by a suffix of the frame name. */
enum names_kind {
	/* No suffix: native code. */
	KIND_NATIVE,
	/* _[k]: kernel, its modules, BPF. */
	KIND_KERNEL,
	/* _[j]: compiled at run time. */
	KIND_JIT,
	/* _[1]: compiled by HotSpot's C1. */
	KIND_C1,
	/* _[i]: inlined into its caller. */
	KIND_INLINED,
	/* _[0]: run by an interpreter. */
	KIND_INTERPRETED,
};

#define NAMES_ALL_KINDS \
	(1u << KIND_KERNEL | 1u << KIND_JIT | 1u << KIND_C1 | 1u << KIND_INLINED | 1u << KIND_INTERPRETED)

/* One frame as perf describes it. */
struct names_frame {
	/* Symbol of the frame without +0xOFFSET; empty or "[unknown]": it has none. */
	struct str symbol;
	/* Path of the DSO, or [name], as perf prints it; empty: unknown. */
	struct str dso;
	/* Address in hex digits, for frames without symbol with --addrs; otherwise empty. */
	struct str address;
	/* Source line, "file:line", appended to the innermost name before the suffix of its kind; empty: none. */
	struct str line;
	/* An inlined call, by DWARF, HotSpot's scopes or a profiler's text: `symbol` is a callee without code of its
	 * own. */
	bool inlined;
	/* A function that an interpreter runs: `symbol` has no code of its own. */
	bool interpreted;
	/* A function that was compiled at run time: the recorder has its name. */
	bool compiled;
	/* The recorder has spelled `symbol` as it is shown: module.qualname of Python, JavaScript. */
	bool as_is;
	/* A Java method; whether it was compiled is not known. */
	bool java;
};

/* Options of the naming rules, and the buffer of results; zero `text` before the first call. */
struct names {
	/* Bits 1 << KIND_* of the kinds whose suffixes are written. */
	unsigned kinds;
	/* Java methods keep the JDK's spelling (--names=hotspot). */
	bool hotspot;
	/* Frames without a symbol show their address (--addrs). */
	bool addresses;
	/* A NUL and the file name of the DSO follow each name of a frame, for --sort=dso: see names_dso. */
	bool dso;
	/* Buffer with the last result. */
	struct text text;
};

/* Returns the names of a frame, outermost first, one a line: perf-map-agent packs inlined calls into one symbol,
 * "a->b". The result is valid until the next call. */
struct str names_make(struct names *names, struct names_frame frame);

/* Returns the frame name for a thread: blanks become '_'. canonical: without the digits and separators at its end,
 * which distinguish the threads of one pool. The result is valid until the next call. */
struct str names_comm(struct names *names, struct str comm, bool canonical);

/* Returns the DSO of a name that was made with `dso`; empty for other frames: names have no NUL of their own. */
struct str names_dso(struct str name);

/* Returns a name without the DSO that follows it. */
struct str names_shown(struct str name);

/* True if the frame has no symbol. */
bool names_unresolved(struct names_frame frame);

/* Frees the buffer. */
void names_free(struct names *names);

#endif
