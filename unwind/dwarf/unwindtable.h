/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwindtable.h - finds the row of call frame information for an address of an ELF file.
 *
 * cfiunwind.h has the functions that open and close tables. The index has the start of each FDE (from the table of
 * .eh_frame_hdr, or from one pass over the section). The rows of an FDE are decoded at the first lookup in its code and
 * stay in memory. Several threads may look up at the same time.
 */
#ifndef PJ_UNWINDTABLE_H
#define PJ_UNWINDTABLE_H

#include "unwind/dwarf/cfi.h"
#include "unwind/dwarf/cfiunwind.h"

/* Returns the row that contains an ELF virtual address, or NULL if the table has none. The row is valid until the table
 * is closed. */
const struct cfi_row *unwind_table_row(const struct unwind_table *table, uint64_t address);

/* As unwind_table_row, but returns NULL for code whose FDE is not made of a Go program's .gopclntab, and for tables
 * loaded from images. */
const struct cfi_row *unwind_table_go_row(const struct unwind_table *table, uint64_t address);

/* Returns true if the ELF virtual address is that of the first code of a program (e_entry), which has no caller. In
 * ld.so this code has no FDE. */
bool unwind_table_is_start(const struct unwind_table *table, uint64_t address);

#endif
