/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfi.h - decodes call frame information into rows, each with the rules for the caller's registers in a range of
 * addresses.
 *
 * Input is .eh_frame and .debug_frame (DWARF 5 section 6.4, LSB 5 chapter 10.6). Most rows of compilers and linkers fit
 * a short row: the CFA is a register plus an offset, and callee-saved registers and the return address are saved at
 * constant word offsets from the CFA. All other rows (signal frames, PLT, realigned stacks) are full rows, with one
 * rule for each register.
 *
 * All functions are pure and accept hostile bytes. An error ends the decoding of an entry; the rows before it remain
 * valid. Limits bound the memory and time of each entry. Registers are numbered by slots (processor.h).
 *
 * for (size_t at = 0; at < cfi.bytes.n; at = next)
 * 	if (cfi_entry_at(&cfi, at, &entry, &next) == CFI_FDE)
 * 		rows = cfi_rows_of(&cfi, &entry, base);
 */
#ifndef PJ_CFI_H
#define PJ_CFI_H

#include "unwind/dwarf/dwarfbytes.h"
#include "unwind/dwarf/processor.h"

/* Kind of a rule: how the caller's value of a register follows from the frame. */
enum cfi_how {
	/* no rule in the table: callee-saved registers and a link register have the same value in the caller, rsp is
	 * the CFA, others are unknown */
	CFI_UNSPECIFIED,
	/* the register has the same value in the caller */
	CFI_SAME,
	/* the caller's value is unknown */
	CFI_UNDEFINED,
	/* the caller's value is saved at address CFA + value */
	CFI_AT,
	/* the caller's value is CFA + value */
	CFI_IS,
	/* the caller's value is in register `reg`; as a rule of the CFA: the CFA is register `reg` + value */
	CFI_REGISTER,
	/* the caller's value is saved at the address that is the result of the expression */
	CFI_AT_EXPR,
	/* the caller's value is the result of the expression */
	CFI_IS_EXPR,
};

/* Rule for one register, or for the CFA. */
struct cfi_rule {
	/* kind of the rule: enum cfi_how */
	uint8_t how;
	/* slot of the source register of CFI_REGISTER */
	uint8_t reg;
	/* length of `expression` in bytes */
	uint32_t length;
	union {
		/* offset in bytes, for CFI_AT and CFI_IS, and for the CFA's CFI_REGISTER */
		int64_t value;
		/* DWARF expression, in the bytes of the section (struct cfi) */
		const char *expression;
	};
};

/* Rules of a full row: one for the CFA and one for each slot. */
struct cfi_rules {
	struct cfi_rule cfa;
	struct cfi_rule reg[CFI_NREGS];
};

/* Slots of the callee-saved registers that short rows describe, in this order: rbx rbp r12 r13 r14 r15. CFI_SAVED_RBP:
 * index of rbp. On aarch64 the slots have x19, x29 and x20 to x23 (processor.c). */
enum { CFI_NKEPT = 6, CFI_SAVED_RBP = 1 };
extern const uint8_t cfi_saved[CFI_NKEPT];

/* Flags of a row (cfi_row.flags). */
enum {
	/* full row: cfi_row.full has the rules */
	CFI_ROW_FULL = 1,
	/* the frame is a signal frame */
	CFI_ROW_SIGNAL = 2,
	/* the frame is the outermost one, without caller */
	CFI_ROW_ROOT = 4,
	/* the return address is in the link register */
	CFI_ROW_LINK = 8
};

/* One row: the rules for the addresses [start, end). cfi_row_at finds the row of an address. */
struct cfi_row {
	/* range of addresses, relative to the base in cfi_rows_of */
	uint32_t start, end;
	union {
		struct {
			/* short row: register cfi_saved[i] is saved at address CFA + 8 * at[i] */
			int16_t at[CFI_NKEPT];
			/* short row: the return address is saved at address CFA + 8 * ra_at */
			int16_t ra_at;
		};
		/* full row: its rules, which struct cfi_rows owns */
		const struct cfi_rules *full;
	};
	/* short row: offset in bytes from the value of register `reg` to the CFA */
	int32_t cfa;
	/* rows without CFI_ROW_FULL: slot (0 to CFI_NREGS - 1) of the register on which the CFA is based */
	uint8_t reg;
	/* flags: CFI_ROW_* */
	uint8_t flags;
	/* short row: mask of the saved registers; bit i for cfi_saved[i] */
	uint8_t saved;
	/* slot of the return address column */
	uint8_t ra;
};

/* All rows of one FDE, sorted and disjoint. */
struct cfi_rows {
	/* addresses of the FDE's code, [start, end), relative to the base; the rows may cover less */
	uint32_t start, end;
	/* number of rows */
	uint32_t n;
	struct cfi_row row[];
};

/* A section with call frame information. */
struct cfi {
	/* bytes of the section, which the caller owns */
	struct str bytes;
	/* ELF virtual address of the section's first byte */
	uint64_t address;
	/* true for .debug_frame, false for .eh_frame */
	bool debug;
	/* processor of the code; NULL means x86-64 */
	const struct processor *processor;
};

/* Kind of a CFI entry. CFI_BAD: the entry is malformed; CFI_END: the section ends here. */
enum cfi_kind { CFI_BAD, CFI_CIE, CFI_FDE, CFI_END };

/* An FDE, with the fields of its CIE. */
struct cfi_entry {
	/* start address and length in bytes of the FDE's code */
	uint64_t start, length;
	/* factors for operands of instructions: code_align for code offsets, data_align for data offsets */
	uint64_t code_align;
	int64_t data_align;
	/* encoding: encoding of pointers (DW_EH_PE_*); ra: slot of the return address column */
	uint8_t encoding, ra;
	/* signal: true if the code has signal frames (augmentation 'S'); augmented: true if the FDE has augmentation
	 * data with a length */
	bool signal, augmented;
	/* initial: instructions of the CIE; program: instructions of the FDE; both point into the section's bytes */
	struct str initial, program;
};

/* Reads the CFI entry at offset `at` and returns its kind. Fills *entry only for an FDE. Sets *next to the offset of
 * the next entry, even for CFI_BAD: at least at + 4, or the section's end. Reads only this entry and its CIE. */
enum cfi_kind cfi_entry_at(const struct cfi *cfi, size_t at, struct cfi_entry *entry, size_t *next);

/* Reads an encoded pointer of .eh_frame or .eh_frame_hdr (DW_EH_PE_*), advances *bytes and returns the pointer.
 * address: address of the first byte of *bytes; data: base of DW_EH_PE_datarel. Sets bytes->bad if the pointer is cut
 * off or its encoding is unsupported. */
uint64_t cfi_pointer(struct dwarf_bytes *bytes, uint8_t encoding, uint64_t address, uint64_t data);

/* Executes the instructions of an FDE. Returns its rows, or NULL if it has none or its code is not within 4 GB after
 * address `base`. The caller frees them by cfi_rows_free. Full rows point into the section's bytes, which must exist as
 * long. */
struct cfi_rows *cfi_rows_of(const struct cfi *cfi, const struct cfi_entry *entry, uint64_t base);
/* Frees rows; NULL is allowed. */
void cfi_rows_free(struct cfi_rows *rows);
/* Returns the number of bytes of memory that the rows use. */
size_t cfi_rows_memory(const struct cfi_rows *rows);

/* Returns the row for an address relative to the base, or NULL if there is none. rows->n must not be 0. */
const struct cfi_row *cfi_row_at(const struct cfi_rows *rows, uint32_t address);

#endif
