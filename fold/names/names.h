/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names.h - naming rules: makes the name that pjfold shows for a frame, from its symbol and DSO as perf prints them.
 *
 * All frame names are made here, from each source (text, perf maps, perf.data, code timelines), so that a function has
 * the same spelling everywhere. docs/INPUTS.md lists the rules; test/fold/names/names_test.c tests each of them. A name
 * never contains ';', newline or another control character, never ends with a blank and digits, and is never empty.
 *
 *     struct names names = { .kinds = NAMES_ALL_KINDS };
 *     shown = names_make(&names, (struct names_frame){ .symbol = symbol, .dso = dso });
 */
#ifndef PJ_NAMES_H
#define PJ_NAMES_H

#include "common/text.h"

/* Kinds of code. A suffix of the frame name shows the kind. */
enum names_kind {
	/* No suffix: native code. */
	KIND_NATIVE,
	/* _[k]: code of the kernel, its modules and BPF programs. */
	KIND_KERNEL,
	/* _[j]: code compiled at run time. */
	KIND_JIT,
	/* _[1]: code compiled by HotSpot's C1. */
	KIND_C1,
	/* _[i]: function inlined into its caller. */
	KIND_INLINED,
	/* _[0]: function run by an interpreter. */
	KIND_INTERPRETED,
};

#define NAMES_ALL_KINDS \
	(1u << KIND_KERNEL | 1u << KIND_JIT | 1u << KIND_C1 | 1u << KIND_INLINED | 1u << KIND_INTERPRETED)

/* One frame as perf describes it. */
struct names_frame {
	/* Symbol of the frame, without +0xOFFSET; empty or "[unknown]": the frame has no symbol. */
	struct str symbol;
	/* Path of the DSO, or a name in brackets, as perf prints it; empty: unknown. */
	struct str dso;
	/* Address in hex digits, if --addrs is given and the frame has no symbol; otherwise empty. */
	struct str address;
	/* Source line as "file:line". The line is appended to the name (of inlined calls: to the innermost name),
	 * before the suffix for the kind. Empty: none. */
	struct str line;
	/* True for an inlined call, known from DWARF, HotSpot's scopes or the text of a profiler: `symbol` has no code
	 * of its own. */
	bool inlined;
	/* True for a function that an interpreter runs: `symbol` has no code of its own. */
	bool interpreted;
	/* True for a function that was compiled at run time and named by the recorder. */
	bool compiled;
	/* True if `symbol` is shown without changes, because the recorder has spelled it: module.qualname of Python,
	 * JavaScript. */
	bool as_is;
	/* True for a Java method that was interpreted or compiled: the text does not distinguish these. */
	bool java;
};

/* Options of the naming rules, and the buffer for results. `text` must be zero before the first call. */
struct names {
	/* Bit mask of 1 << KIND_*: kinds whose suffixes are written. */
	unsigned kinds;
	/* True if Java methods keep the JDK's spelling (--names=hotspot). */
	bool hotspot;
	/* True if frames without a symbol show their address (--addrs). */
	bool addresses;
	/* True if a NUL and the file name of the DSO follow each frame name, for --sort=dso (names_dso()). */
	bool dso;
	/* Buffer for the last result. */
	struct text text;
};

/* Returns the names of a frame, outermost first, one a line. There are several names if the symbol contains inlined
 * calls, which perf-map-agent writes as "a->b". The result is valid until the next call. */
struct str names_make(struct names *names, struct names_frame frame);

/* Returns the frame name for the comm of a thread: blanks become '_'. canonical: if true, also removes digits and
 * separators at the end of the comm, which distinguish the threads of one pool. The result is valid until the next
 * call. */
struct str names_comm(struct names *names, struct str comm, bool canonical);

/* Returns the DSO after a name that names_make() made with `dso` set; empty for any other name. Names themselves
 * contain no NUL. */
struct str names_dso(struct str name);

/* Returns a name without the DSO after it. */
struct str names_shown(struct str name);

/* Returns true if the frame has no symbol: it is empty or "[unknown]". Otherwise returns false. */
bool names_unresolved(struct names_frame frame);

/* Frees the buffer. */
void names_free(struct names *names);

#endif
