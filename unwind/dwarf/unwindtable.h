/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwindtable.h - which row of call frame information is for an address of an ELF file (cfiunwind.h opens and closes).
 *
 * All FDEs are known by start (.eh_frame_hdr's table, or one pass over the section); rows are made when code of an FDE
 * is met first and kept. Threads may ask at the same time.
 */
#ifndef PJ_UNWINDTABLE_H
#define PJ_UNWINDTABLE_H

#include "unwind/dwarf/cfi.h"
#include "unwind/dwarf/cfiunwind.h"

/* NULL: no table has it. Lives as long as table. */
const struct cfi_row *unwind_table_row(const struct unwind_table *table, uint64_t address);

#endif
