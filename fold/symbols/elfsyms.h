/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elfsyms.h - names of the functions in an ELF file, chosen as perf chooses them.
 *
 * Addresses are offsets in the file, as mappings give them, so ET_EXEC, PIE and prelinked files need no case of their
 * own. .symtab, .dynsym, .gnu_debugdata, PLT; of aliases the one that perf takes; names demangled by libiberty as perf
 * does (no parameters). The file is hostile: it may be truncated while it is read, or be no ELF at all.
 */
#ifndef PJ_ELFSYMS_H
#define PJ_ELFSYMS_H

#include "common/formats/buildid.h"
#include "common/str.h"
#include "fold/symbols/symbols.h"

struct elfsyms_options {
	bool as_perf; /* what perf 6.1 does, its gaps included (no .plt.sec, no .gnu_debugdata, ...) */
	bool mangled; /* do not demangle */
};

struct elfsyms; /* an open file */
struct inlines_options;

/* Takes fd over. NULL and *why (a static text: "not an ELF file", "truncated", ...) when it cannot be used. */
struct elfsyms *elfsyms_open(int fd, const struct elfsyms_options *options, const char **why);

/* Of an ELF file; fd stays the caller's. n is 0 if it has none, or is no ELF file. */
struct build_id elfsyms_file_build_id(int fd);

struct build_id elfsyms_build_id(const struct elfsyms *elfsyms);
bool elfsyms_has_symtab(const struct elfsyms *elfsyms);
bool elfsyms_has_dynsym(const struct elfsyms *elfsyms);
struct str elfsyms_debuglink(
	const struct elfsyms *elfsyms); /* name in .gnu_debuglink, or empty; lives as long as elfsyms */
uint32_t elfsyms_debuglink_crc(
	const struct elfsyms *elfsyms); /* the CRC-32 of that file, as it stands behind the name */

/* Answers query[0..n). runtime: the file that was mapped, whose program headers relate offsets to addresses; elfsyms
 * itself, or another one where elfsyms is a separate debug file. Answers that are already there (name != 0) are left.
 * Returns how many were answered. */
size_t elfsyms_resolve(struct elfsyms *elfsyms, const struct elfsyms *runtime, struct symbols_query *query, size_t n,
		       struct intern *names);

/* As elfsyms_resolve, but for addresses, which are moved by `moved` from those in the file: the file is a kernel. */
size_t elfsyms_resolve_addresses(struct elfsyms *elfsyms, uint64_t moved, struct symbols_query *query, size_t n,
				 struct intern *names);

/* The address of a symbol of .symtab, as in the file; false when there is none. */
bool elfsyms_address(const struct elfsyms *elfsyms, struct str name, uint64_t *address);

bool elfsyms_has_debug_info(const struct elfsyms *elfsyms);

/* As inlines_resolve (inlines.h), out of the debug information in elfsyms. */
const char *elfsyms_inlines(struct elfsyms *elfsyms, const struct elfsyms *runtime,
			    const struct inlines_options *options, struct symbols_query *query, size_t n,
			    struct intern *names);

void elfsyms_close(struct elfsyms *elfsyms);

/* libiberty's name for people, without parameters; false when symbol is not mangled. Appends to out. */
struct text;
bool elfsyms_demangle(struct text *out, struct str symbol);

#endif
