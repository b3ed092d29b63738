/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elfsyms.h - looks up names of functions in an ELF file, with the choices of perf.
 *
 * Addresses are file offsets, as mappings give them, so ET_EXEC, PIE and prelinked files are treated alike. Sources are
 * .symtab, .dynsym, .gnu_debugdata and the PLT; for Go's code, in files without .symtab, .gopclntab (gosyms.h). Of
 * aliases the one that perf chooses is taken; names are demangled by libiberty as in perf (without parameters). The
 * file is hostile: it may be truncated during the read, or be no ELF file.
 */
#ifndef PJ_ELFSYMS_H
#define PJ_ELFSYMS_H

#include "common/formats/buildid.h"
#include "common/str.h"
#include "fold/symbols/symbols.h"

struct elfsyms_options {
	bool as_perf; /* choose symbols as perf 6.1 does, which ignores .plt.sec, .gnu_debugdata, .gopclntab and others
		       */
	bool mangled; /* return symbols mangled, as in the file */
};

/* An open ELF file with symbols. */
struct elfsyms;
struct inlines_options;

/* Opens a file and takes fd over. Returns NULL and *why (a static text: "not an ELF file", "truncated", ...) on
 * failure. */
struct elfsyms *elfsyms_open(int fd, const struct elfsyms_options *options, const char **why);

/* Returns the build-id of an ELF file; n is 0 if it has none, or is no ELF file. fd stays the caller's. */
struct build_id elfsyms_file_build_id(int fd);

struct build_id elfsyms_build_id(const struct elfsyms *elfsyms);
bool elfsyms_has_symtab(const struct elfsyms *elfsyms);
bool elfsyms_has_dynsym(const struct elfsyms *elfsyms);
/* Return the file name in .gnu_debuglink (empty: none; valid as long as elfsyms), and the CRC-32 of that file. */
struct str elfsyms_debuglink(const struct elfsyms *elfsyms);
uint32_t elfsyms_debuglink_crc(const struct elfsyms *elfsyms);

/* Looks up the symbols of query[0..n), which are file offsets in `runtime`. runtime: the mapped file, whose program
 * headers relate offsets to addresses; it is elfsyms itself, or another file if elfsyms is a separate debug file. Skips
 * queries that have a name. Returns the number of new names. */
size_t elfsyms_resolve(struct elfsyms *elfsyms, const struct elfsyms *runtime, struct symbols_query *query, size_t n,
		       struct intern *names);

/* As elfsyms_resolve for a kernel: queries are addresses, which KASLR moved by `moved` from those in the file. */
size_t elfsyms_resolve_addresses(struct elfsyms *elfsyms, uint64_t moved, struct symbols_query *query, size_t n,
				 struct intern *names);

/* Sets *address to the value of a symbol of .symtab (st_value). Returns false if there is no such symbol. */
bool elfsyms_address(const struct elfsyms *elfsyms, struct str name, uint64_t *address);

bool elfsyms_has_debug_info(const struct elfsyms *elfsyms);

/* As inlines_resolve (inlines.h), with the debug information of elfsyms. */
const char *elfsyms_inlines(struct elfsyms *elfsyms, const struct elfsyms *runtime,
			    const struct inlines_options *options, struct symbols_query *query, size_t n,
			    struct intern *names);

/* As goinlines_resolve (goinlines.h). */
bool elfsyms_go_inlines(const struct elfsyms *elfsyms, struct symbols_query *query, size_t n, struct intern *names,
			const char **why);

void elfsyms_close(struct elfsyms *elfsyms);

/* Appends the demangled name, without parameters, to out. Returns false if symbol is not mangled. */
struct text;
bool elfsyms_demangle(struct text *out, struct str symbol);

#endif
