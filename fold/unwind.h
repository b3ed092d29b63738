/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind.h - callers from registers and a copy of the stack, by call frame information.
 *
 * .eh_frame (else .debug_frame) becomes a table of rows {address, how to find the CFA, where rbp was saved}; a step is
 * one binary search. Only rules that compilers and PLTs make are rows; others (signal frames) are evaluated when met. Code without tables is walked by frame pointers.
 * DWARF 5 section 6.4, System V ABI AMD64 section 3.
 */
#ifndef PJ_UNWIND_H
#define PJ_UNWIND_H

#include "str.h"

struct unwind_table; /* of one ELF file; shared by all its mappings */

/* Takes fd over. NULL and *why when the file has no usable tables. */
struct unwind_table *unwind_table_open(int fd, const char **why);
/* The same from memory that the caller keeps: a .eh_frame section at address. */
struct unwind_table *unwind_table_memory(struct str eh_frame, uint64_t address, const char **why);
void unwind_table_close(struct unwind_table *t);

struct unwind_state {
	uint64_t ip, sp, bp;
	uint64_t reg[16]; /* DWARF numbers; valid says which are known */
	uint32_t valid;
	struct str stack; /* copy; its first byte is at stack_start */
	uint64_t stack_start;
};

/* Where code of the process is: table and what to subtract from an address to get the ELF virtual address of the table (or of the memory). */
struct unwind_code {
	const struct unwind_table *table; /* NULL: none, frame pointers are tried */
	uint64_t bias;
};

enum unwind_end { UNWIND_MORE, UNWIND_ROOT, UNWIND_STACK_CUT, UNWIND_NO_CODE, UNWIND_LOOP };

/* One step outwards: changes s to the caller's. leaf: ip is where it was interrupted, not a return address. */
enum unwind_end unwind_step(struct unwind_state *s, struct unwind_code code, bool leaf);

#endif
