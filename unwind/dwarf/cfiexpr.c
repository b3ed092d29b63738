/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/dwarf/cfiexpr.h"

/* Limits of one expression, beyond which its evaluation fails. OPERANDS_MAX: number of operands on its stack;
 * STEPS_MAX: number of executed operations. */
enum { OPERANDS_MAX = 64, STEPS_MAX = 1000 };

/* State of the evaluation of one expression. */
struct evaluation {
	struct str all;       /* bytes of the expression */
	struct dwarf_bytes b; /* cursor at the next operation or operand in `all` */
	const struct cfi_place *p;
	/* stack of n operands, the last one on top */
	uint64_t operand[OPERANDS_MAX];
	unsigned n;
	bool bad; /* true if the evaluation has failed */
};

enum {
	OP_DEREF = 0x06,
	OP_CONST1U = 0x08,
	OP_CONST1S,
	OP_CONST2U,
	OP_CONST2S,
	OP_CONST4U,
	OP_CONST4S,
	OP_CONST8U,
	OP_CONST8S,
	OP_CONSTU,
	OP_CONSTS,
	OP_DUP,
	OP_DROP,
	OP_OVER,
	OP_PICK,
	OP_SWAP,
	OP_ROT,
	OP_ABS = 0x19,
	OP_AND,
	OP_DIV,
	OP_MINUS,
	OP_MOD,
	OP_MUL,
	OP_NEG,
	OP_NOT,
	OP_OR,
	OP_PLUS,
	OP_PLUS_UCONST,
	OP_SHL,
	OP_SHR,
	OP_SHRA,
	OP_XOR,
	OP_BRA,
	OP_EQ,
	OP_GE,
	OP_GT,
	OP_LE,
	OP_LT,
	OP_NE,
	OP_SKIP,
	OP_LIT0,
	OP_LIT31 = 0x4f,
	OP_BREG0 = 0x70,
	OP_BREG31 = 0x8f,
	OP_BREGX = 0x92,
	OP_DEREF_SIZE = 0x94,
	OP_NOP = 0x96
};

static void cfiexpr_push(struct evaluation *evaluation, uint64_t value)
{
	if (evaluation->n == OPERANDS_MAX)
		evaluation->bad = true;
	else
		evaluation->operand[evaluation->n++] = value;
}

static uint64_t cfiexpr_pop(struct evaluation *evaluation)
{
	if (evaluation->n == 0) {
		evaluation->bad = true;
		return 0;
	}
	return evaluation->operand[--evaluation->n];
}

static void cfiexpr_pick(struct evaluation *evaluation, uint64_t i)
{
	if (i >= evaluation->n)
		evaluation->bad = true;
	else
		cfiexpr_push(evaluation, evaluation->operand[evaluation->n - 1 - i]);
}

static void cfiexpr_swap(struct evaluation *evaluation)
{
	uint64_t a = cfiexpr_pop(evaluation), b = cfiexpr_pop(evaluation);

	cfiexpr_push(evaluation, a);
	cfiexpr_push(evaluation, b);
}

/* Executes DW_OP_rot: moves the top operand below the next two. */
static void cfiexpr_rotate(struct evaluation *evaluation)
{
	uint64_t a = cfiexpr_pop(evaluation), b = cfiexpr_pop(evaluation), c = cfiexpr_pop(evaluation);

	cfiexpr_push(evaluation, a);
	cfiexpr_push(evaluation, c);
	cfiexpr_push(evaluation, b);
}

static void push_register(struct evaluation *evaluation, uint64_t dwarf, int64_t offset)
{
	unsigned reg = processor_slot(evaluation->p->processor ? evaluation->p->processor : &processor_x86_64, dwarf);

	if (reg >= CFI_NREGS || !(evaluation->p->valid >> reg & 1))
		evaluation->bad = true;
	else
		cfiexpr_push(evaluation, evaluation->p->reg[reg] + (uint64_t)offset);
}

static void cfiexpr_deref(struct evaluation *evaluation, uint64_t size)
{
	uint64_t at = cfiexpr_pop(evaluation) - evaluation->p->stack_start, value = 0;
	struct str string = evaluation->p->stack;

	if (size == 0 || size > 8 || string.n < size || at > string.n - size) {
		evaluation->bad = true;
		return;
	}
	memcpy(&value, string.p + at, size);
	cfiexpr_push(evaluation, value);
}

static void cfiexpr_jump(struct evaluation *evaluation, bool taken)
{
	int64_t by = (int64_t)dwarf_sint(&evaluation->b, 2), at = (const char *)evaluation->b.p - evaluation->all.p;

	if (!taken || evaluation->b.bad)
		return;
	if (at + by < 0 || at + by > (int64_t)evaluation->all.n)
		evaluation->bad = true;
	else
		evaluation->b.p = (const uint8_t *)evaluation->all.p + at + by;
}

static uint64_t cfiexpr_divide(struct evaluation *evaluation, uint64_t a, uint64_t b)
{
	if (b == 0)
		evaluation->bad = true;
	/* Treats -1 separately, because INT64_MIN / -1 is undefined in C. */
	return b == 0 ? 0 : b == UINT64_MAX ? 0 - a : (uint64_t)((int64_t)a / (int64_t)b);
}

static uint64_t cfiexpr_shifted(uint64_t a, uint64_t by, uint8_t opcode)
{
	bool minus = (int64_t)a < 0;

	if (by > 63)
		return opcode == OP_SHRA && minus ? UINT64_MAX : 0;
	return opcode == OP_SHL ? a << by : opcode == OP_SHR ? a >> by : (uint64_t)((int64_t)a >> by);
}

/* Executes an operation that replaces two operands by one result. Sets evaluation->bad if the opcode is unknown. */
static void cfiexpr_binary(struct evaluation *evaluation, uint8_t opcode)
{
	uint64_t b = cfiexpr_pop(evaluation), a = cfiexpr_pop(evaluation);
	int64_t sb = (int64_t)b, sa = (int64_t)a;

	switch (opcode) {
	case OP_AND: cfiexpr_push(evaluation, a & b); break;
	case OP_OR: cfiexpr_push(evaluation, a | b); break;
	case OP_XOR: cfiexpr_push(evaluation, a ^ b); break;
	case OP_PLUS: cfiexpr_push(evaluation, a + b); break;
	case OP_MINUS: cfiexpr_push(evaluation, a - b); break;
	case OP_MUL: cfiexpr_push(evaluation, a * b); break;
	case OP_DIV: cfiexpr_push(evaluation, cfiexpr_divide(evaluation, a, b)); break;
	case OP_MOD:
		evaluation->bad |= b == 0;
		cfiexpr_push(evaluation, b ? a % b : 0);
		break;
	case OP_SHL:
	case OP_SHR:
	case OP_SHRA: cfiexpr_push(evaluation, cfiexpr_shifted(a, b, opcode)); break;
	case OP_EQ: cfiexpr_push(evaluation, sa == sb); break;
	case OP_GE: cfiexpr_push(evaluation, sa >= sb); break;
	case OP_GT: cfiexpr_push(evaluation, sa > sb); break;
	case OP_LE: cfiexpr_push(evaluation, sa <= sb); break;
	case OP_LT: cfiexpr_push(evaluation, sa < sb); break;
	case OP_NE: cfiexpr_push(evaluation, sa != sb); break;
	default: evaluation->bad = true;
	}
}

/* Executes an operation that pushes a constant, or copies, drops or reorders operands. Returns false without effect for
 * other opcodes. */
static bool push_operation(struct evaluation *evaluation, uint8_t opcode)
{
	struct dwarf_bytes *bytes = &evaluation->b;

	switch (opcode) {
	case OP_CONST1U:
	case OP_CONST2U:
	case OP_CONST4U:
	case OP_CONST8U: cfiexpr_push(evaluation, dwarf_uint(bytes, 1U << (opcode - OP_CONST1U) / 2)); return true;
	case OP_CONST1S:
	case OP_CONST2S:
	case OP_CONST4S:
	case OP_CONST8S: cfiexpr_push(evaluation, dwarf_sint(bytes, 1U << (opcode - OP_CONST1S) / 2)); return true;
	case OP_CONSTU: cfiexpr_push(evaluation, dwarf_uleb(bytes)); return true;
	case OP_CONSTS: cfiexpr_push(evaluation, (uint64_t)dwarf_sleb(bytes)); return true;
	case OP_DUP: cfiexpr_pick(evaluation, 0); return true;
	case OP_DROP: cfiexpr_pop(evaluation); return true;
	case OP_OVER: cfiexpr_pick(evaluation, 1); return true;
	case OP_PICK: cfiexpr_pick(evaluation, dwarf_uint(bytes, 1)); return true;
	case OP_SWAP: cfiexpr_swap(evaluation); return true;
	case OP_ROT: cfiexpr_rotate(evaluation); return true;
	default: return false;
	}
}

static void cfiexpr_unary(struct evaluation *evaluation, uint8_t opcode)
{
	uint64_t a = cfiexpr_pop(evaluation);

	switch (opcode) {
	case OP_ABS: cfiexpr_push(evaluation, (int64_t)a < 0 ? 0 - a : a); break;
	case OP_NEG: cfiexpr_push(evaluation, 0 - a); break;
	case OP_NOT: cfiexpr_push(evaluation, ~a); break;
	default: cfiexpr_push(evaluation, a + dwarf_uleb(&evaluation->b)); break;
	}
}

static void cfiexpr_operation(struct evaluation *evaluation, uint8_t opcode)
{
	uint64_t reg;

	if (opcode >= OP_LIT0 && opcode <= OP_LIT31) {
		cfiexpr_push(evaluation, (uint64_t)(opcode - OP_LIT0));
		return;
	}
	if (opcode >= OP_BREG0 && opcode <= OP_BREG31) {
		push_register(evaluation, (uint64_t)(opcode - OP_BREG0), dwarf_sleb(&evaluation->b));
		return;
	}
	if (push_operation(evaluation, opcode))
		return;
	switch (opcode) {
	case OP_NOP: break;
	case OP_DEREF: cfiexpr_deref(evaluation, 8); break;
	case OP_DEREF_SIZE: cfiexpr_deref(evaluation, dwarf_uint(&evaluation->b, 1)); break;
	case OP_BREGX:
		reg = dwarf_uleb(&evaluation->b);
		push_register(evaluation, reg, dwarf_sleb(&evaluation->b));
		break;
	case OP_SKIP: cfiexpr_jump(evaluation, true); break;
	case OP_BRA: cfiexpr_jump(evaluation, cfiexpr_pop(evaluation) != 0); break;
	case OP_ABS:
	case OP_NEG:
	case OP_NOT:
	case OP_PLUS_UCONST: cfiexpr_unary(evaluation, opcode); break;
	default: cfiexpr_binary(evaluation, opcode); break;
	}
}

bool cfi_evaluate(struct str expression, const struct cfi_place *place, const uint64_t *cfa, uint64_t *result)
{
	struct evaluation evaluation;

	evaluation.all = expression;
	evaluation.b = dwarf_bytes_of(expression);
	evaluation.p = place;
	evaluation.n = 0;
	evaluation.bad = false;
	if (cfa)
		cfiexpr_push(&evaluation, *cfa);
	for (unsigned steps = 0; dwarf_left(&evaluation.b); steps++) {
		if (steps == STEPS_MAX || *place->effort == 0)
			return false;
		--*place->effort;
		cfiexpr_operation(&evaluation, (uint8_t)dwarf_uint(&evaluation.b, 1));
		if (evaluation.bad || evaluation.b.bad)
			return false;
	}
	*result = cfiexpr_pop(&evaluation);
	return !evaluation.bad;
}
