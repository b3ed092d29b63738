/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfi.h - decodes call frame information into rows: rules for the caller's registers at a range of addresses.
 *
 * Input is .eh_frame and .debug_frame (DWARF 5 section 6.4, LSB 5 chapter 10.6). Most rows of compilers and linkers fit
 * a short row: the CFA is a register plus an offset, callee-saved registers and the return address are saved in words
 * at constant offsets from the CFA. All other rows (signal frames, PLT, realigned stacks) are full rows with one rule
 * for each register.
 *
 * All functions are pure and accept hostile bytes: an error ends the entry, and the rows before it remain valid. Limits
 * bound the memory and time of each entry. Registers are given by slots (processor.h).
 *
 * for (size_t at = 0; at < cfi.bytes.n; at = next)
 * 	if (cfi_entry_at(&cfi, at, &entry, &next) == CFI_FDE)
 * 		rows = cfi_rows_of(&cfi, &entry, base);
 */
#ifndef PJ_CFI_H
#define PJ_CFI_H

#include "unwind/dwarf/dwarfbytes.h"
#include "unwind/dwarf/processor.h"

/* Kind of a rule: how the value of a register in the caller follows from the frame. */
enum cfi_how {
	/* No rule was given. For callee-saved registers and a link register: as CFI_SAME; for rsp: the CFA; for others:
	 * unknown. */
	CFI_UNSPECIFIED,
	/* the register has the same value in the caller */
	CFI_SAME,
	/* the caller's value is unknown */
	CFI_UNDEFINED,
	/* the caller's value is saved at address CFA + value */
	CFI_AT,
	/* the caller's value is CFA + value itself */
	CFI_IS,
	/* the caller's value is in register `reg`; as rule of the CFA: register `reg` + value */
	CFI_REGISTER,
	/* the caller's value is saved at the address that the expression yields */
	CFI_AT_EXPR,
	/* the caller's value is the result of the expression */
	CFI_IS_EXPR,
};

/* Rule of one register, or of the CFA. */
struct cfi_rule {
	/* enum cfi_how */
	uint8_t how;
	/* slot of the source register, for CFI_REGISTER */
	uint8_t reg;
	/* size of the expression in bytes */
	uint32_t length;
	union {
		int64_t value;
		/* points into the bytes of the section (struct cfi) */
		const char *expression;
	};
};

/* Content of a full row: the rule of the CFA and a rule for each slot. */
struct cfi_rules {
	struct cfi_rule cfa;
	struct cfi_rule reg[CFI_NREGS];
};

/* Slots of the callee-saved registers that short rows describe, in this order: rbx rbp r12 r13 r14 r15. Index 1 is rbp.
 * On aarch64 these slots have x19, x29 and others (processor.c). */
enum { CFI_NKEPT = 6, CFI_SAVED_RBP = 1 };
extern const uint8_t cfi_saved[CFI_NKEPT];

/* Flags of a row. CFI_ROW_FULL: `full` has the rules. CFI_ROW_SIGNAL: the frame is a signal frame. CFI_ROW_ROOT: the
 * frame is the outermost one, without caller. */
enum {
	CFI_ROW_FULL = 1,
	CFI_ROW_SIGNAL = 2,
	CFI_ROW_ROOT = 4,
	/* the return address is in the link register */
	CFI_ROW_LINK = 8
};

/* A row: the rules for the addresses [start, end). cfi_row_at finds the row of an address. */
struct cfi_row {
	/* addresses relative to the base given to cfi_rows_of */
	uint32_t start, end;
	union {
		struct {
			/* Callee-saved register cfi_saved[i] is saved at CFA + 8 * at[i]. */
			int16_t at[CFI_NKEPT];
			/* The return address is at CFA + 8 * ra_at. */
			int16_t ra_at;
		};
		/* the rules of a CFI_ROW_FULL; owned by the struct cfi_rows */
		const struct cfi_rules *full;
	};
	/* offset from the value of register `reg` to the CFA */
	int32_t cfa;
	/* slot of the register that the CFA is computed from */
	uint8_t reg;
	/* bits CFI_ROW_* */
	uint8_t flags;
	/* bit i: register cfi_saved[i] is saved at at[i] */
	uint8_t saved;
	/* slot of the register that stands for the return address */
	uint8_t ra;
};

/* All rows of one FDE, sorted and disjoint. */
struct cfi_rows {
	/* start and end address of the FDE's code, relative to the base; the rows may cover less */
	uint32_t start, end;
	uint32_t n;
	struct cfi_row row[];
};

/* A section with call frame information. The caller owns the bytes. */
struct cfi {
	struct str bytes;
	/* address of the section's first byte (ELF virtual address) */
	uint64_t address;
	/* the section is .debug_frame, not .eh_frame */
	bool debug;
	/* processor of the code; NULL: x86-64 */
	const struct processor *processor;
};

/* Kind of a CFI entry. CFI_BAD: malformed entry; CFI_END: end of the section. */
enum cfi_kind { CFI_BAD, CFI_CIE, CFI_FDE, CFI_END };

/* An FDE with the fields of the CIE that it refers to. */
struct cfi_entry {
	/* start address and size in bytes of the FDE's code */
	uint64_t start, length;
	/* factors for operands of instructions: code offsets, data offsets */
	uint64_t code_align;
	int64_t data_align;
	/* encoding of pointers (DW_EH_PE_*); slot of the register that stands for the return address */
	uint8_t encoding, ra;
	/* signal: the code is a signal frame (augmentation 'S'); augmented: the FDE has augmentation data with a
	 * length */
	bool signal, augmented;
	/* instructions of the CIE and of the FDE; both point into the section's bytes */
	struct str initial, program;
};

/* Reads the CFI entry at offset `at` and returns its kind. Sets *next to the offset of the next entry, which is at
 * least at + 4 or the section's end, also for CFI_BAD. Fills *entry only for an FDE. Reads only this entry and its
 * CIE. */
enum cfi_kind cfi_entry_at(const struct cfi *cfi, size_t at, struct cfi_entry *entry, size_t *next);

/* Returns a pointer that is encoded as in .eh_frame and .eh_frame_hdr (DW_EH_PE_*), and advances bytes. address is the
 * address of the first byte of bytes; data is the base of DW_EH_PE_datarel. Sets bytes->bad if the pointer is cut off
 * or its encoding is unsupported. */
uint64_t cfi_pointer(struct dwarf_bytes *bytes, uint8_t encoding, uint64_t address, uint64_t data);

/* Executes the instructions of an FDE, whose code lies within 4 GB after the address base. Returns its rows, or NULL if
 * it has none; cfi_rows_free frees them. Full rows point into the section's bytes, which must exist as long. */
struct cfi_rows *cfi_rows_of(const struct cfi *cfi, const struct cfi_entry *entry, uint64_t base);
/* Frees rows; NULL is allowed. */
void cfi_rows_free(struct cfi_rows *rows);
/* Returns the number of bytes of memory that the rows use. */
size_t cfi_rows_memory(const struct cfi_rows *rows);

/* Returns the row that contains an address, relative to the base, or NULL if no row does. rows->n must not be 0. */
const struct cfi_row *cfi_row_at(const struct cfi_rows *rows, uint32_t address);

#endif
