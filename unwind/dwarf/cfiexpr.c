/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/dwarf/cfiexpr.h"

enum { OPERANDS_MAX = 64, STEPS_MAX = 1000 };

struct evaluation {
	struct str all;
	struct dwarf_bytes b;
	const struct cfi_place *p;
	uint64_t operand[OPERANDS_MAX];
	unsigned n;
	bool bad;
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

static void cfiexpr_push(struct evaluation *v, uint64_t value)
{
	if (v->n == OPERANDS_MAX)
		v->bad = true;
	else
		v->operand[v->n++] = value;
}

static uint64_t cfiexpr_pop(struct evaluation *v)
{
	if (v->n == 0) {
		v->bad = true;
		return 0;
	}
	return v->operand[--v->n];
}

static void cfiexpr_pick(struct evaluation *v, uint64_t i)
{
	if (i >= v->n)
		v->bad = true;
	else
		cfiexpr_push(v, v->operand[v->n - 1 - i]);
}

static void cfiexpr_swap(struct evaluation *v)
{
	uint64_t a = cfiexpr_pop(v), b = cfiexpr_pop(v);

	cfiexpr_push(v, a);
	cfiexpr_push(v, b);
}

/* The top one becomes the third. */
static void cfiexpr_rotate(struct evaluation *v)
{
	uint64_t a = cfiexpr_pop(v), b = cfiexpr_pop(v), c = cfiexpr_pop(v);

	cfiexpr_push(v, a);
	cfiexpr_push(v, c);
	cfiexpr_push(v, b);
}

static void push_register(struct evaluation *v, uint64_t dwarf, int64_t offset)
{
	unsigned reg = processor_slot(v->p->processor ? v->p->processor : &processor_x86_64, dwarf);

	if (reg >= CFI_NREGS || !(v->p->valid >> reg & 1))
		v->bad = true;
	else
		cfiexpr_push(v, v->p->reg[reg] + (uint64_t)offset);
}

static void cfiexpr_deref(struct evaluation *v, uint64_t size)
{
	uint64_t at = cfiexpr_pop(v) - v->p->stack_start, value = 0;
	struct str s = v->p->stack;

	if (size == 0 || size > 8 || s.n < size || at > s.n - size) {
		v->bad = true;
		return;
	}
	memcpy(&value, s.p + at, size);
	cfiexpr_push(v, value);
}

static void cfiexpr_jump(struct evaluation *v, bool taken)
{
	int64_t by = (int64_t)dwarf_sint(&v->b, 2), at = (const char *)v->b.p - v->all.p;

	if (!taken || v->b.bad)
		return;
	if (at + by < 0 || at + by > (int64_t)v->all.n)
		v->bad = true;
	else
		v->b.p = (const uint8_t *)v->all.p + at + by;
}

static uint64_t cfiexpr_divide(struct evaluation *v, uint64_t a, uint64_t b)
{
	if (b == 0)
		v->bad = true;
	/* -1: INT64_MIN / -1 is undefined in C */
	return b == 0 ? 0 : b == UINT64_MAX ? 0 - a : (uint64_t)((int64_t)a / (int64_t)b);
}

static uint64_t cfiexpr_shifted(uint64_t a, uint64_t by, uint8_t op)
{
	bool minus = (int64_t)a < 0;

	if (by > 63)
		return op == OP_SHRA && minus ? UINT64_MAX : 0;
	return op == OP_SHL ? a << by : op == OP_SHR ? a >> by : (uint64_t)((int64_t)a >> by);
}

/* Two operands, one result. */
static void cfiexpr_binary(struct evaluation *v, uint8_t op)
{
	uint64_t b = cfiexpr_pop(v), a = cfiexpr_pop(v);
	int64_t sb = (int64_t)b, sa = (int64_t)a;

	switch (op) {
	case OP_AND: cfiexpr_push(v, a & b); break;
	case OP_OR: cfiexpr_push(v, a | b); break;
	case OP_XOR: cfiexpr_push(v, a ^ b); break;
	case OP_PLUS: cfiexpr_push(v, a + b); break;
	case OP_MINUS: cfiexpr_push(v, a - b); break;
	case OP_MUL: cfiexpr_push(v, a * b); break;
	case OP_DIV: cfiexpr_push(v, cfiexpr_divide(v, a, b)); break;
	case OP_MOD:
		v->bad |= b == 0;
		cfiexpr_push(v, b ? a % b : 0);
		break;
	case OP_SHL:
	case OP_SHR:
	case OP_SHRA: cfiexpr_push(v, cfiexpr_shifted(a, b, op)); break;
	case OP_EQ: cfiexpr_push(v, sa == sb); break;
	case OP_GE: cfiexpr_push(v, sa >= sb); break;
	case OP_GT: cfiexpr_push(v, sa > sb); break;
	case OP_LE: cfiexpr_push(v, sa <= sb); break;
	case OP_LT: cfiexpr_push(v, sa < sb); break;
	case OP_NE: cfiexpr_push(v, sa != sb); break;
	default: v->bad = true;
	}
}

/* Constants, and what moves operands; false for another one. */
static bool push_operation(struct evaluation *v, uint8_t op)
{
	struct dwarf_bytes *b = &v->b;

	switch (op) {
	case OP_CONST1U:
	case OP_CONST2U:
	case OP_CONST4U:
	case OP_CONST8U: cfiexpr_push(v, dwarf_uint(b, 1U << (op - OP_CONST1U) / 2)); return true;
	case OP_CONST1S:
	case OP_CONST2S:
	case OP_CONST4S:
	case OP_CONST8S: cfiexpr_push(v, dwarf_sint(b, 1U << (op - OP_CONST1S) / 2)); return true;
	case OP_CONSTU: cfiexpr_push(v, dwarf_uleb(b)); return true;
	case OP_CONSTS: cfiexpr_push(v, (uint64_t)dwarf_sleb(b)); return true;
	case OP_DUP: cfiexpr_pick(v, 0); return true;
	case OP_DROP: cfiexpr_pop(v); return true;
	case OP_OVER: cfiexpr_pick(v, 1); return true;
	case OP_PICK: cfiexpr_pick(v, dwarf_uint(b, 1)); return true;
	case OP_SWAP: cfiexpr_swap(v); return true;
	case OP_ROT: cfiexpr_rotate(v); return true;
	default: return false;
	}
}

static void cfiexpr_unary(struct evaluation *v, uint8_t op)
{
	uint64_t a = cfiexpr_pop(v);

	switch (op) {
	case OP_ABS: cfiexpr_push(v, (int64_t)a < 0 ? 0 - a : a); break;
	case OP_NEG: cfiexpr_push(v, 0 - a); break;
	case OP_NOT: cfiexpr_push(v, ~a); break;
	default: cfiexpr_push(v, a + dwarf_uleb(&v->b)); break;
	}
}

static void cfiexpr_operation(struct evaluation *v, uint8_t op)
{
	uint64_t reg;

	if (op >= OP_LIT0 && op <= OP_LIT31) {
		cfiexpr_push(v, (uint64_t)(op - OP_LIT0));
		return;
	}
	if (op >= OP_BREG0 && op <= OP_BREG31) {
		push_register(v, (uint64_t)(op - OP_BREG0), dwarf_sleb(&v->b));
		return;
	}
	if (push_operation(v, op))
		return;
	switch (op) {
	case OP_NOP: break;
	case OP_DEREF: cfiexpr_deref(v, 8); break;
	case OP_DEREF_SIZE: cfiexpr_deref(v, dwarf_uint(&v->b, 1)); break;
	case OP_BREGX:
		reg = dwarf_uleb(&v->b);
		push_register(v, reg, dwarf_sleb(&v->b));
		break;
	case OP_SKIP: cfiexpr_jump(v, true); break;
	case OP_BRA: cfiexpr_jump(v, cfiexpr_pop(v) != 0); break;
	case OP_ABS:
	case OP_NEG:
	case OP_NOT:
	case OP_PLUS_UCONST: cfiexpr_unary(v, op); break;
	default: cfiexpr_binary(v, op); break;
	}
}

bool cfi_evaluate(struct str expression, const struct cfi_place *p, const uint64_t *cfa, uint64_t *result)
{
	struct evaluation v;

	v.all = expression;
	v.b = dwarf_bytes_of(expression);
	v.p = p;
	v.n = 0;
	v.bad = false;
	if (cfa)
		cfiexpr_push(&v, *cfa);
	for (unsigned steps = 0; dwarf_left(&v.b); steps++) {
		if (steps == STEPS_MAX || *p->effort == 0)
			return false;
		--*p->effort;
		cfiexpr_operation(&v, (uint8_t)dwarf_uint(&v.b, 1));
		if (v.bad || v.b.bad)
			return false;
	}
	*result = cfiexpr_pop(&v);
	return !v.bad;
}
