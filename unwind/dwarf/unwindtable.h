/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwindtable.h - looks up the row of call frame information for an address of an ELF file.
 *
 * cfiunwind.h declares the functions that open and close tables. A table has an index of the start address of each FDE,
 * from the table in .eh_frame_hdr or from one pass over the section. The rows of an FDE are decoded at the first lookup
 * in its code and stay in memory. Lookups are thread-safe.
 */
#ifndef PJ_UNWINDTABLE_H
#define PJ_UNWINDTABLE_H

#include "unwind/dwarf/cfi.h"
#include "unwind/dwarf/cfiunwind.h"

/* Returns the row for an ELF virtual address, or NULL if there is none. The row is valid until the table is closed. */
const struct cfi_row *unwind_table_row(const struct unwind_table *table, uint64_t address);

/* Returns the row for an ELF virtual address if its FDE was made from a Go program's .gopclntab; otherwise NULL, as for
 * all tables loaded from images. */
const struct cfi_row *unwind_table_go_row(const struct unwind_table *table, uint64_t address);

/* Returns true if the ELF virtual address is in a Go function that changes to another stack, such as
 * runtime.systemstack: gopclntab.h makes no FDE for it. Also returns true for a Go function with invalid values in
 * .gopclntab. Returns false for other code, and for a Go program whose .gopclntab has an unknown layout. */
bool unwind_table_changes_stack(const struct unwind_table *table, uint64_t address);

/* Returns true if the ELF virtual address is in the first code of a program (at e_entry), which has no caller. In ld.so
 * this code has no FDE. */
bool unwind_table_is_start(const struct unwind_table *table, uint64_t address);

#endif
