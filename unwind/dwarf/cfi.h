/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfi.h - decodes call frame information into rows: rules for the caller's registers at a range of addresses.
 *
 * Input is .eh_frame and .debug_frame (DWARF 5 section 6.4, LSB 5 chapter 10.6). Most rows of compilers and linkers fit
 * a short row: the CFA is a register plus an offset, callee-saved registers and the return address are saved in words
 * at constant offsets from the CFA. All others (signal frames, PLT, realigned stacks) are full rows with one rule for
 * each register.
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

/* Kind of a rule: the way from a row to the value of a register in the caller. */
enum cfi_how {
	/* No rule. Callee-saved registers and a link register: as CFI_SAME; rsp: the CFA; others: unknown. */
	CFI_UNSPECIFIED,
	/* unchanged */
	CFI_SAME,
	/* unknown in the caller */
	CFI_UNDEFINED,
	/* saved at CFA + value */
	CFI_AT,
	/* is CFA + value */
	CFI_IS,
	/* is register `reg`; as rule of the CFA: register `reg` + value */
	CFI_REGISTER,
	/* saved at the address that the expression yields */
	CFI_AT_EXPR,
	/* is the value that the expression yields */
	CFI_IS_EXPR,
};

/* Rule of one register, or of the CFA. */
struct cfi_rule {
	/* enum cfi_how */
	uint8_t how;
	/* slot, for CFI_REGISTER */
	uint8_t reg;
	/* bytes of the expression */
	uint32_t length;
	union {
		int64_t value;
		/* points into the section's bytes */
		const char *expression;
	};
};

/* A full row: the rule of the CFA and a rule for each slot. */
struct cfi_rules {
	struct cfi_rule cfa;
	struct cfi_rule reg[CFI_NREGS];
};

/* Slots of the callee-saved registers in short rows, in this order: rbx rbp r12 r13 r14 r15. Index 1 is rbp. On
 * aarch64 these slots have x19, x29 and others (processor.c). */
enum { CFI_NKEPT = 6, CFI_SAVED_RBP = 1 };
extern const uint8_t cfi_saved[CFI_NKEPT];

/* Flags of a row. FULL: `full` has the rules. SIGNAL: signal frame. ROOT: outermost frame, without caller. */
enum {
	CFI_ROW_FULL = 1,
	CFI_ROW_SIGNAL = 2,
	CFI_ROW_ROOT = 4,
	/* The return address is in the link register. */
	CFI_ROW_LINK = 8
};

/* Rules for the addresses [start, end). Use cfi_row_at to find the row. */
struct cfi_row {
	/* relative to the base of cfi_rows_of */
	uint32_t start, end;
	union {
		struct {
			/* Saved register i is at CFA + 8 * at[i]. */
			int16_t at[CFI_NKEPT];
			/* The return address is at CFA + 8 * ra_at. */
			int16_t ra_at;
		};
		/* for CFI_ROW_FULL; owned by the struct cfi_rows */
		const struct cfi_rules *full;
	};
	/* offset from register `reg` to the CFA */
	int32_t cfa;
	/* slot of the CFA's register */
	uint8_t reg;
	/* CFI_ROW_* */
	uint8_t flags;
	/* bit i: cfi_saved[i] is saved */
	uint8_t saved;
	/* slot of the return address */
	uint8_t ra;
};

/* All rows of one FDE, sorted and disjoint. */
struct cfi_rows {
	/* Addresses of the FDE, relative to the base. The rows may cover less. */
	uint32_t start, end;
	uint32_t n;
	struct cfi_row row[];
};

/* A section with call frame information. The caller owns the bytes. */
struct cfi {
	struct str bytes;
	/* address of the first byte */
	uint64_t address;
	/* true for .debug_frame, false for .eh_frame */
	bool debug;
	/* NULL: x86-64 */
	const struct processor *processor;
};

/* Kind of an entry. CFI_BAD: malformed; CFI_END: end of the section. */
enum cfi_kind { CFI_BAD, CFI_CIE, CFI_FDE, CFI_END };

/* An FDE with the fields of its CIE. */
struct cfi_entry {
	/* addresses of its code */
	uint64_t start, length;
	/* factors of the instructions' operands */
	uint64_t code_align;
	int64_t data_align;
	/* encoding of pointers (DW_EH_PE_*); slot of the return address */
	uint8_t encoding, ra;
	/* signal: augmentation 'S'; augmented: the augmentation has a length */
	bool signal, augmented;
	/* instructions of the CIE and of the FDE; point into the section's bytes */
	struct str initial, program;
};

/* Reads the entry at offset `at`. Sets *next to the offset of the next entry, which is at least at + 4 and at most
 * the section's end, also for CFI_BAD. Fills *entry only for an FDE. Costs time for one entry and its CIE. */
enum cfi_kind cfi_entry_at(const struct cfi *cfi, size_t at, struct cfi_entry *entry, size_t *next);

/* Reads a pointer, encoded as in .eh_frame and .eh_frame_hdr (DW_EH_PE_*), and advances bytes. address is the
 * address of the first byte of bytes; data is the base of DW_EH_PE_datarel. Sets bytes->bad if the pointer is cut
 * off or its encoding is unsupported. */
uint64_t cfi_pointer(struct dwarf_bytes *bytes, uint8_t encoding, uint64_t address, uint64_t data);

/* Executes the instructions of an FDE that starts at or after base, within 4 GB. Returns its rows, or NULL if it has
 * none. The caller frees them with cfi_rows_free. Full rows have pointers into the section's bytes, which must exist
 * as long. */
struct cfi_rows *cfi_rows_of(const struct cfi *cfi, const struct cfi_entry *entry, uint64_t base);
/* Frees rows; NULL is allowed. */
void cfi_rows_free(struct cfi_rows *rows);
/* Returns the bytes of memory of rows. */
size_t cfi_rows_memory(const struct cfi_rows *rows);

/* Returns the row of an address relative to the base, or NULL if no row contains it. rows->n must not be 0. */
const struct cfi_row *cfi_row_at(const struct cfi_rows *rows, uint32_t address);

#endif
