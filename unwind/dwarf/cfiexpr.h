/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfiexpr.h - DWARF expressions of call frame information (DWARF 5 sections 2.5 and 6.4.2), over registers and a copy
 * of the stack. Ends for any bytes: a budget bounds loops, and nothing outside of the copy is read.
 */
#ifndef PJ_CFIEXPR_H
#define PJ_CFIEXPR_H

#include "unwind/dwarf/cfi.h"

struct cfi_place {
	const struct processor *processor; /* NULL: x86-64 */
	uint64_t reg[CFI_NREGS];           /* by slots */
	uint32_t valid;                    /* bit i: reg[i] is known */
	struct str stack;                  /* its first byte is at stack_start */
	uint64_t stack_start;
	uint32_t *effort; /* operations that may still be done */
};

/* The word at an address of the stack; false where the copy does not have all of it. */
static inline bool cfi_load(struct str stack, uint64_t stack_start, uint64_t address, uint64_t *value)
{
	uint64_t at = address - stack_start;

	if (stack.n < 8 || at > stack.n - 8)
		return false;
	memcpy(value, stack.p + at, 8);
	return true;
}

/* cfa: what lies on the operand stack at the start, or NULL. False when it cannot be had. */
bool cfi_evaluate(struct str expression, const struct cfi_place *place, const uint64_t *cfa, uint64_t *result);

#endif
