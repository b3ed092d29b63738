/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfi.h - call frame information as rows: at these addresses, the caller's registers are found like this.
 *
 * .eh_frame and .debug_frame (DWARF 5 section 6.4, LSB 5 chapter 10.6). What compilers and linkers make is a
 * short row: CFA is a register and an offset, callee-saved registers lie in whole words from it, and so does the return
 * address. Anything else (signal frames, PLT, realigned stacks) is a row with one rule for each register. Pure; the
 * bytes are hostile: what is wrong ends the entry, and rows before it stay.
 */
#ifndef PJ_CFI_H
#define PJ_CFI_H

#include "unwind/dwarf/dwarfbytes.h"
#include "unwind/dwarf/processor.h"

enum cfi_how {
	CFI_UNSPECIFIED, /* callee-saved, and a link register: the same; rsp: CFA; others: unknown */
	CFI_SAME,
	CFI_UNDEFINED,
	CFI_AT,       /* saved at CFA + value */
	CFI_IS,       /* is CFA + value */
	CFI_REGISTER, /* is register `reg`; of the CFA: register `reg` + value */
	CFI_AT_EXPR,  /* saved where the expression says */
	CFI_IS_EXPR,  /* is what the expression says */
};

struct cfi_rule {
	uint8_t how; /* enum cfi_how */
	uint8_t reg;
	uint32_t length; /* of the expression */
	union {
		int64_t value;
		const char *expression; /* in the section's bytes */
	};
};

struct cfi_rules {
	struct cfi_rule cfa;
	struct cfi_rule reg[CFI_NREGS];
};

/* The callee-saved registers of short rows, in their order: rbx rbp r12 r13 r14 r15. */
enum { CFI_NKEPT = 6, CFI_SAVED_RBP = 1 };
extern const uint8_t cfi_saved[CFI_NKEPT];

enum {
	CFI_ROW_FULL = 1,
	CFI_ROW_SIGNAL = 2,
	CFI_ROW_ROOT = 4,
	CFI_ROW_LINK = 8 /* the return address is in its register */
};

struct cfi_row {
	uint32_t start, end; /* relative to the base given */
	union {
		struct {
			int16_t at[CFI_NKEPT]; /* saved at CFA + 8 * at */
			int16_t ra_at;         /* so is the return address */
		};
		const struct cfi_rules *full; /* CFI_ROW_FULL */
	};
	int32_t cfa; /* offset */
	uint8_t reg; /* of the CFA */
	uint8_t flags;
	uint8_t saved; /* bit i: cfi_kept[i] is saved */
	uint8_t ra;    /* slot of the return address */
};

struct cfi_rows {
	uint32_t start, end; /* what the entry covers; rows may cover less */
	uint32_t n;
	struct cfi_row row[];
};

/* A section. */
struct cfi {
	struct str bytes;
	uint64_t address;                  /* of its first byte */
	bool debug;                        /* .debug_frame */
	const struct processor *processor; /* NULL: x86-64 */
};

enum cfi_kind { CFI_BAD, CFI_CIE, CFI_FDE, CFI_END };

/* An FDE with what its CIE says. */
struct cfi_entry {
	uint64_t start, length;
	uint64_t code_align;
	int64_t data_align;
	uint8_t encoding, ra;
	bool signal, augmented;
	struct str initial, program; /* instructions */
};

/* What is at offset `at`; *next is behind it (at least at + 4, at most the end). Only an FDE fills *entry. */
enum cfi_kind cfi_entry_at(const struct cfi *cfi, size_t at, struct cfi_entry *entry, size_t *next);

/* A pointer as eh_frame and eh_frame_hdr encode it; address: of the first byte of bytes; data: what DW_EH_PE_datarel
 * adds.
 */
uint64_t cfi_pointer(struct dwarf_bytes *bytes, uint8_t encoding, uint64_t address, uint64_t data);

/* The rows of an FDE that starts at or behind base; NULL when it has none. Caller frees with cfi_rows_free. */
struct cfi_rows *cfi_rows_of(const struct cfi *cfi, const struct cfi_entry *entry, uint64_t base);
void cfi_rows_free(struct cfi_rows *rows);
size_t cfi_rows_memory(const struct cfi_rows *rows);

/* The row of an address relative to the base, or NULL. */
const struct cfi_row *cfi_row_at(const struct cfi_rows *rows, uint32_t address);

#endif
