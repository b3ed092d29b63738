/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inlines.h - looks up the inlined calls at offsets in an ELF file, in its debug information.
 *
 * The module hides libdw, together with dies.h, which only inlines.c uses. In a build without libdw, inlines_here is
 * false, and lookups find nothing. The units are visited one by one; only units that contain a requested offset are
 * read, each at most twice, for all its offsets together. Debug information is hostile: damaged data, or data that
 * would take too long, end the lookup with a reason; results up to there remain valid.
 */
#ifndef PJ_INLINES_H
#define PJ_INLINES_H

#include "fold/symbols/elffile.h"
#include "fold/symbols/symbols.h"

extern const bool inlines_here;

/* Callbacks that open other files to which debug information refers. Each returns a descriptor of a regular file, which
 * the lookup closes, or -1. `with` is their first argument. */
struct inlines_files {
	/* opens a .dwo file of -gsplit-dwarf; dir may be NULL */
	int (*split)(void *with, const char *dir, const char *name);
	/* opens the supplementary file of dwz, whose name and build-id are in .gnu_debugaltlink */
	int (*shared)(void *with, const char *name, struct str build_id);
	void *with;
};

struct inlines_options {
	bool as_perf; /* true: omit namespaces in names of functions without linkage name, as perf does */
	struct inlines_files files;
};

/*
 * Sets query[i].inlined, for i < n, to the id of the names of the inlined calls at query[i].address, outermost first,
 * separated by NUL; leaves it unchanged if no call is inlined there. The addresses are ascending offsets in the file
 * `runtime`. dwarf: the file with the debug information, of the same build as runtime. Returns NULL, or the reason if
 * calls may be missing.
 */
const char *inlines_resolve(const struct inlines_options *options, const struct elffile *dwarf,
			    const struct elffile *runtime, struct symbols_query *query, size_t n, struct intern *names);

#endif
