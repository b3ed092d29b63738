/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inlines.h - which calls were inlined at a place in an ELF file, as its debug information tells.
 *
 * Hides libdw, and whether there is one: without it inlines_here is false, and nothing is answered. Units are gone
 * through one after the other; only those that hold a place that was asked for are looked into, each once for all its
 * places. Debug information is hostile: what is damaged, or would take too long, is given up with a reason, and what
 * was found until then stays.
 */
#ifndef PJ_INLINES_H
#define PJ_INLINES_H

#include "fold/symbols/elffile.h"
#include "fold/symbols/symbols.h"

extern const bool inlines_here;

/* Opens the other files that debug information names; each gives a descriptor of a regular file, or -1. */
struct inlines_files {
	int (*split)(void *with, const char *dir, const char *name); /* a .dwo of -gsplit-dwarf; dir may be NULL */
	int (*shared)(void *with, const char *name,
		      struct str build_id); /* what dwz moved out, named by .gnu_debugaltlink */
	void *with;
};

struct inlines_options {
	bool as_perf; /* names without namespaces where no linkage name is told */
	struct inlines_files files;
};

/*
 * Sets query[i].inlined for places (offsets in the runtime file, ascending) where calls were inlined: the id of their
 * names, the outermost first, a NUL between them; 0: there are none. dwarf: the file with the debug information, of the
 * same build as runtime. NULL, or why it is not all.
 */
const char *inlines_resolve(const struct inlines_options *options, const struct elffile *dwarf,
			    const struct elffile *runtime, struct symbols_query *query, size_t n, struct intern *names);

#endif
