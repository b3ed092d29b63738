/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfiexpr.h - evaluates DWARF expressions in call frame information, with registers and a stack copy.
 *
 * Source: DWARF 5 sections 2.5 and 6.4.2. Expressions and stack are hostile: a budget of operations ends loops, and no
 * memory outside of the stack copy is read. All functions are pure.
 */
#ifndef PJ_CFIEXPR_H
#define PJ_CFIEXPR_H

#include "unwind/dwarf/cfi.h"

/* Registers and memory that an expression can read. */
struct cfi_place {
	/* processor of the code; NULL means x86-64 */
	const struct processor *processor;
	/* values of the registers by slot (processor.h) */
	uint64_t reg[CFI_NREGS];
	/* mask of the known registers; bit i for reg[i] */
	uint32_t valid;
	/* stack copy; its first byte is at address stack_start */
	struct str stack;
	uint64_t stack_start;
	/* number of operations that may still be executed for all expressions of one stack; cfi_evaluate decrements it
	 * for each one */
	uint32_t *effort;
};

/* Sets *value to the 8-byte word at a stack address. Returns false if the stack copy does not contain all 8 bytes. */
static inline bool cfi_load(struct str stack, uint64_t stack_start, uint64_t address, uint64_t *value)
{
	uint64_t at = address - stack_start;

	if (stack.n < 8 || at > stack.n - 8)
		return false;
	memcpy(value, stack.p + at, 8);
	return true;
}

/* Evaluates an expression and sets *result. The stack of operands has *cfa at first; it is empty if cfa is NULL.
 * Returns false, with undefined *result, if the expression is malformed, reads unknown registers or memory, or exceeds
 * the budget. */
bool cfi_evaluate(struct str expression, const struct cfi_place *place, const uint64_t *cfa, uint64_t *result);

#endif
