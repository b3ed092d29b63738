/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inlines.h - looks up the inlined calls at offsets in an ELF file, in its debug information.
 *
 * Hides libdw, and its absence: without it inlines_here is false, and lookups find nothing. The units are visited one
 * by one; only those that contain a requested offset are read, each once for all its offsets. Debug information is
 * hostile: damaged data, and data that would take too long, end the lookup with a reason; results up to there stay.
 */
#ifndef PJ_INLINES_H
#define PJ_INLINES_H

#include "fold/symbols/elffile.h"
#include "fold/symbols/symbols.h"

extern const bool inlines_here;

/* Callbacks that open other files to which debug information refers. Each returns a descriptor of a regular file, or
 * -1. */
struct inlines_files {
	/* opens a .dwo file of -gsplit-dwarf; dir may be NULL */
	int (*split)(void *with, const char *dir, const char *name);
	/* opens the supplementary file of dwz, whose name is in .gnu_debugaltlink */
	int (*shared)(void *with, const char *name, struct str build_id);
	void *with;
};

struct inlines_options {
	bool as_perf; /* as perf does, omit namespaces in names of functions without linkage name */
	struct inlines_files files;
};

/*
 * Sets query[i].inlined for offsets in the runtime file (ascending) with inlined calls: the id of their names,
 * outermost first, separated by NUL; 0 if there are none. dwarf: the file with the debug information, of the same build
 * as runtime. Returns NULL, or the reason if calls may be missing.
 */
const char *inlines_resolve(const struct inlines_options *options, const struct elffile *dwarf,
			    const struct elffile *runtime, struct symbols_query *query, size_t n, struct intern *names);

#endif
