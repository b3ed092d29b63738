/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elfsyms.h - looks up names of functions in an ELF file; chooses among aliases as perf does.
 *
 * Addresses are file offsets, as in mappings, so ET_EXEC, PIE and prelinked files are treated alike. Sources are
 * .symtab, .dynsym, .gnu_debugdata and the PLT; for Go's code, in files without .symtab, also .gopclntab (gosyms.h).
 * libiberty demangles names as in perf (without parameters). The file is hostile: it may be truncated during the read,
 * or be no ELF file.
 */
#ifndef PJ_ELFSYMS_H
#define PJ_ELFSYMS_H

#include "common/formats/buildid.h"
#include "common/str.h"
#include "fold/symbols/symbols.h"

struct elfsyms_options {
	/* true: choose symbols as perf 6.1 does, which ignores .plt.sec, .gnu_debugdata and .gopclntab, among others */
	bool as_perf;
	bool mangled; /* true: return symbols mangled, as in the file */
};

/* An open ELF file with symbols. */
struct elfsyms;
struct inlines_options;

/* Opens a file; takes ownership of fd. On failure, returns NULL and sets *why to a static text like "not an ELF file".
 */
struct elfsyms *elfsyms_open(int fd, const struct elfsyms_options *options, const char **why);

/* Returns the build-id of an ELF file; n is 0 if the file has none, or is no ELF file. Does not close fd. */
struct build_id elfsyms_file_build_id(int fd);

struct build_id elfsyms_build_id(const struct elfsyms *elfsyms);
bool elfsyms_has_symtab(const struct elfsyms *elfsyms);
bool elfsyms_has_dynsym(const struct elfsyms *elfsyms);
/* Returns the name of the debug file in .gnu_debuglink; empty if there is none. The text is valid until
 * elfsyms_close. */
struct str elfsyms_debuglink(const struct elfsyms *elfsyms);
/* Returns the CRC-32 of the debug file from .gnu_debuglink; 0 if there is none. */
uint32_t elfsyms_debuglink_crc(const struct elfsyms *elfsyms);

/* Looks up the symbols of query[0..n), which are file offsets in `runtime`. runtime: the mapped file, whose program
 * headers map offsets to addresses; it differs from elfsyms if elfsyms is a separate debug file. Skips queries that
 * already have a name. Returns the number of new names. */
size_t elfsyms_resolve(struct elfsyms *elfsyms, const struct elfsyms *runtime, struct symbols_query *query, size_t n,
		       struct intern *names);

/* Looks up the symbols of query[0..n) in a kernel. Queries are virtual addresses; KASLR moved them by `moved` bytes
 * from the addresses in the file. Skips queries that already have a name. Returns the number of new names. */
size_t elfsyms_resolve_addresses(struct elfsyms *elfsyms, uint64_t moved, struct symbols_query *query, size_t n,
				 struct intern *names);

/* Sets *address to the value of a symbol of .symtab (st_value). Returns false if there is no such symbol. */
bool elfsyms_address(const struct elfsyms *elfsyms, struct str name, uint64_t *address);

bool elfsyms_has_debug_info(const struct elfsyms *elfsyms);

/* Calls inlines_resolve (inlines.h) for query[0..n) with the debug information of elfsyms. Returns NULL, or the reason
 * if calls may be missing. */
const char *elfsyms_inlines(struct elfsyms *elfsyms, const struct elfsyms *runtime,
			    const struct inlines_options *options, struct symbols_query *query, size_t n,
			    struct intern *names);

/* Calls goinlines_resolve (goinlines.h) for query[0..n) with the mapped file elfsyms. Returns false if the file has no
 * usable table; otherwise sets *why to NULL, or to the reason if calls may be missing. */
bool elfsyms_go_inlines(const struct elfsyms *elfsyms, struct symbols_query *query, size_t n, struct intern *names,
			const char **why);

void elfsyms_close(struct elfsyms *elfsyms);

struct text;
/* Appends the demangled name, without parameters, to out. Returns false, and appends nothing, if symbol is not mangled
 * or exceeds a limit. */
bool elfsyms_demangle(struct text *out, struct str symbol);

#endif
