/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfiexpr.h - evaluates DWARF expressions of call frame information over registers and a stack copy.
 *
 * DWARF 5 sections 2.5 and 6.4.2. Expressions and stack are hostile: evaluation ends for any bytes, because a budget of
 * operations bounds loops, and no memory outside of the stack copy is read. Pure.
 */
#ifndef PJ_CFIEXPR_H
#define PJ_CFIEXPR_H

#include "unwind/dwarf/cfi.h"

/* Registers and memory that an expression can read. */
struct cfi_place {
	/* processor of the code; NULL: x86-64 */
	const struct processor *processor;
	/* values of the registers, indexed by slot (processor.h) */
	uint64_t reg[CFI_NREGS];
	/* mask of the known registers: bit i for reg[i] */
	uint32_t valid;
	/* the stack copy; its first byte is at address stack_start */
	struct str stack;
	uint64_t stack_start;
	/* Number of operations that may still be executed for all expressions of one stack. cfi_evaluate decrements it
	 * for each operation. */
	uint32_t *effort;
};

/* Loads the 8-byte word at a stack address from the stack copy. Returns false if the copy does not contain the whole
 * word. */
static inline bool cfi_load(struct str stack, uint64_t stack_start, uint64_t address, uint64_t *value)
{
	uint64_t at = address - stack_start;

	if (stack.n < 8 || at > stack.n - 8)
		return false;
	memcpy(value, stack.p + at, 8);
	return true;
}

/* Evaluates an expression into *result. *cfa is the first operand on the stack of operands, which is empty if cfa is
 * NULL. Returns false if the expression is malformed, reads unknown registers or memory, or exceeds the budget; *result
 * is then undefined. */
bool cfi_evaluate(struct str expression, const struct cfi_place *place, const uint64_t *cfa, uint64_t *result);

#endif
