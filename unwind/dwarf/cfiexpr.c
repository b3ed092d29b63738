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

static void push(struct evaluation *v, uint64_t value)
{
	if (v->n == OPERANDS_MAX)
		v->bad = true;
	else
		v->operand[v->n++] = value;
}

static uint64_t pop(struct evaluation *v)
{
	if (v->n == 0) {
		v->bad = true;
		return 0;
	}
	return v->operand[--v->n];
}

static void pick(struct evaluation *v, uint64_t i)
{
	if (i >= v->n)
		v->bad = true;
	else
		push(v, v->operand[v->n - 1 - i]);
}

static void swap(struct evaluation *v)
{
	uint64_t a = pop(v), b = pop(v);

	push(v, a);
	push(v, b);
}

/* The top one becomes the third. */
static void rotate(struct evaluation *v)
{
	uint64_t a = pop(v), b = pop(v), c = pop(v);

	push(v, a);
	push(v, c);
	push(v, b);
}

static void push_register(struct evaluation *v, uint64_t dwarf, int64_t offset)
{
	unsigned reg = processor_slot(v->p->processor ? v->p->processor : &processor_x86_64, dwarf);

	if (reg >= CFI_NREGS || !(v->p->valid >> reg & 1))
		v->bad = true;
	else
		push(v, v->p->reg[reg] + (uint64_t)offset);
}

static void deref(struct evaluation *v, uint64_t size)
{
	uint64_t at = pop(v) - v->p->stack_start, value = 0;
	struct str s = v->p->stack;

	if (size == 0 || size > 8 || s.n < size || at > s.n - size) {
		v->bad = true;
		return;
	}
	memcpy(&value, s.p + at, size);
	push(v, value);
}

static void jump(struct evaluation *v, bool taken)
{
	int64_t by = (int64_t)dwarf_sint(&v->b, 2), at = (const char *)v->b.p - v->all.p;

	if (!taken || v->b.bad)
		return;
	if (at + by < 0 || at + by > (int64_t)v->all.n)
		v->bad = true;
	else
		v->b.p = (const uint8_t *)v->all.p + at + by;
}

static uint64_t divide(struct evaluation *v, uint64_t a, uint64_t b)
{
	if (b == 0)
		v->bad = true;
	/* -1: INT64_MIN / -1 is undefined in C */
	return b == 0 ? 0 : b == UINT64_MAX ? 0 - a : (uint64_t)((int64_t)a / (int64_t)b);
}

static uint64_t shifted(uint64_t a, uint64_t by, uint8_t op)
{
	bool minus = (int64_t)a < 0;

	if (by > 63)
		return op == OP_SHRA && minus ? UINT64_MAX : 0;
	return op == OP_SHL ? a << by : op == OP_SHR ? a >> by : (uint64_t)((int64_t)a >> by);
}

/* Two operands, one result. */
static void binary(struct evaluation *v, uint8_t op)
{
	uint64_t b = pop(v), a = pop(v);
	int64_t sb = (int64_t)b, sa = (int64_t)a;

	switch (op) {
	case OP_AND: push(v, a & b); break;
	case OP_OR: push(v, a | b); break;
	case OP_XOR: push(v, a ^ b); break;
	case OP_PLUS: push(v, a + b); break;
	case OP_MINUS: push(v, a - b); break;
	case OP_MUL: push(v, a * b); break;
	case OP_DIV: push(v, divide(v, a, b)); break;
	case OP_MOD:
		v->bad |= b == 0;
		push(v, b ? a % b : 0);
		break;
	case OP_SHL:
	case OP_SHR:
	case OP_SHRA: push(v, shifted(a, b, op)); break;
	case OP_EQ: push(v, sa == sb); break;
	case OP_GE: push(v, sa >= sb); break;
	case OP_GT: push(v, sa > sb); break;
	case OP_LE: push(v, sa <= sb); break;
	case OP_LT: push(v, sa < sb); break;
	case OP_NE: push(v, sa != sb); break;
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
	case OP_CONST8U: push(v, dwarf_uint(b, 1U << (op - OP_CONST1U) / 2)); return true;
	case OP_CONST1S:
	case OP_CONST2S:
	case OP_CONST4S:
	case OP_CONST8S: push(v, dwarf_sint(b, 1U << (op - OP_CONST1S) / 2)); return true;
	case OP_CONSTU: push(v, dwarf_uleb(b)); return true;
	case OP_CONSTS: push(v, (uint64_t)dwarf_sleb(b)); return true;
	case OP_DUP: pick(v, 0); return true;
	case OP_DROP: pop(v); return true;
	case OP_OVER: pick(v, 1); return true;
	case OP_PICK: pick(v, dwarf_uint(b, 1)); return true;
	case OP_SWAP: swap(v); return true;
	case OP_ROT: rotate(v); return true;
	default: return false;
	}
}

static void unary(struct evaluation *v, uint8_t op)
{
	uint64_t a = pop(v);

	switch (op) {
	case OP_ABS: push(v, (int64_t)a < 0 ? 0 - a : a); break;
	case OP_NEG: push(v, 0 - a); break;
	case OP_NOT: push(v, ~a); break;
	default: push(v, a + dwarf_uleb(&v->b)); break;
	}
}

static void operation(struct evaluation *v, uint8_t op)
{
	uint64_t reg;

	if (op >= OP_LIT0 && op <= OP_LIT31) {
		push(v, (uint64_t)(op - OP_LIT0));
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
	case OP_DEREF: deref(v, 8); break;
	case OP_DEREF_SIZE: deref(v, dwarf_uint(&v->b, 1)); break;
	case OP_BREGX:
		reg = dwarf_uleb(&v->b);
		push_register(v, reg, dwarf_sleb(&v->b));
		break;
	case OP_SKIP: jump(v, true); break;
	case OP_BRA: jump(v, pop(v) != 0); break;
	case OP_ABS:
	case OP_NEG:
	case OP_NOT:
	case OP_PLUS_UCONST: unary(v, op); break;
	default: binary(v, op); break;
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
		push(&v, *cfa);
	for (unsigned steps = 0; dwarf_left(&v.b); steps++) {
		if (steps == STEPS_MAX || *p->effort == 0)
			return false;
		--*p->effort;
		operation(&v, (uint8_t)dwarf_uint(&v.b, 1));
		if (v.bad || v.b.bad)
			return false;
	}
	*result = pop(&v);
	return !v.bad;
}
