/* Call frame information made by hand: rows, rules, expressions, and what is damaged. */
/* covers: unwind/dwarf/cfi.c unwind/dwarf/cfiexpr.c unwind/dwarf/cfiunwind.c unwind/dwarf/unwindtable.c */
#include "unwind/dwarf/cfiexpr.h"
#include "unwind/dwarf/cfiunwind.h"
#include "unwind/dwarf/unwindtable.h"
#include "test/lib/tap.h"

#include <stdlib.h>

enum { AT = 0x10000, CODE = 0x1000, STACK = 0x700000 };

/* ---- a section that grows ---- */

struct bytes {
	uint8_t p[4096];
	size_t n;
};

static void put(struct bytes *bytes, uint64_t value, unsigned size)
{
	memcpy(bytes->p + bytes->n, &value, size);
	bytes->n += size;
}

static void put_string(struct bytes *bytes, const char *string)
{
	memcpy(bytes->p + bytes->n, string, strlen(string) + 1);
	bytes->n += strlen(string) + 1;
}

static void put_program(struct bytes *bytes, struct str program)
{
	memcpy(bytes->p + bytes->n, program.p, program.n);
	bytes->n += program.n;
}

static void end_entry(struct bytes *bytes, size_t start)
{
	uint32_t length;

	while ((bytes->n - start) % 8)
		put(bytes, 0, 1);
	length = (uint32_t)(bytes->n - start - 4);
	memcpy(bytes->p + start, &length, 4);
}

/* CFA rsp+8, return address at CFA-8, data alignment -8: as all compilers start. */
static void put_cie(struct bytes *bytes, const char *augmentation, struct str program)
{
	size_t start = bytes->n;

	put(bytes, 0, 8); /* length, id */
	put(bytes, 1, 1);
	put_string(bytes, augmentation);
	put(bytes, 1, 1);
	put(bytes, 0x78, 1);
	put(bytes, 16, 1);
	if (augmentation[0] == 'z') {
		put(bytes, 1, 1);
		put(bytes, 0x1b, 1); /* pcrel sdata4 */
	}
	put_program(bytes, program);
	end_entry(bytes, start);
}

#define USUAL STR("\x0c\x07\x08\x90\x01")

static void put_fde(struct bytes *bytes, uint64_t code, uint32_t length, struct str program)
{
	size_t start = bytes->n;

	put(bytes, 0, 4);
	put(bytes, bytes->n, 4); /* the CIE is at 0 */
	put(bytes, code - (AT + bytes->n), 4);
	put(bytes, length, 4);
	put(bytes, 0, 1);
	put_program(bytes, program);
	end_entry(bytes, start);
}

static struct str view(const struct bytes *bytes)
{
	return (struct str){ (const char *)bytes->p, bytes->n };
}

/* A table of one FDE of 0x100 bytes at CODE. */
static struct unwind_table *table_of(struct bytes *bytes, const char *augmentation, struct str program)
{
	const char *why;

	*bytes = (struct bytes){ 0 };
	put_cie(bytes, augmentation, USUAL);
	put_fde(bytes, CODE, 0x100, program);
	put(bytes, 0, 4);
	return unwind_table_memory(view(bytes), AT, &why);
}

/* ---- a stack ---- */

struct stack {
	uint64_t word[64];
	struct unwind_state s;
};

static void stack_new(struct stack *stack, uint64_t ip)
{
	for (unsigned i = 0; i < countof(stack->word); i++)
		stack->word[i] = 0x5000 + i;
	stack->s = (struct unwind_state){ .ip = ip,
					  .sp = STACK,
					  .bp = STACK + 0x80,
					  .valid = 0xffff,
					  .stack_start = STACK,
					  .interrupted = true,
					  .effort = 100000 };
	stack->s.stack = (struct str){ (const char *)stack->word, sizeof(stack->word) };
	for (unsigned i = 0; i < 16; i++)
		stack->s.reg[i] = 0x100 + i;
}

static enum unwind_end step(struct stack *stack, const struct unwind_table *table, uint64_t ip)
{
	stack_new(stack, ip);
	return unwind_step(&stack->s, (struct unwind_code){ table, 0 }, true);
}

static void test_rows(void)
{
	/* push rbp; mov rbp, rsp; push rbx; ...; leave; ret */
	struct str program = STR("\x41\x0e\x10\x86\x02\x43\x0d\x06\x41\x83\x03\x50\x0c\x07\x08");
	struct bytes b;
	struct unwind_table *t = table_of(&b, "zR", program);
	struct stack k;

	is_u64(step(&k, t, CODE), UNWIND_MORE, "first instruction");
	is_u64(k.s.ip, 0x5000, "return address on top");
	is_u64(k.s.sp, STACK + 8, "sp above it");
	is_u64(k.s.bp, STACK + 0x80, "rbp kept");
	ok(!k.s.interrupted, "the caller was not interrupted");
	is_u64(step(&k, t, CODE + 1), UNWIND_MORE, "behind push rbp");
	is_u64(k.s.ip, 0x5001, "second word");
	is_u64(k.s.bp, 0x5000, "rbp from the stack");
	is_u64(step(&k, t, CODE + 6), UNWIND_MORE, "with a frame pointer");
	is_u64(k.s.ip, 0x5000 + 17, "at rbp + 8");
	is_u64(k.s.bp, 0x5000 + 16, "rbp from where it points");
	is_u64(k.s.reg[3], 0x5000 + 15, "rbx below");
	is_u64(k.s.sp, STACK + 0x90, "sp at the CFA");
	is_u64(k.s.valid, 1U << 3 | 1U << 6 | 1U << 7 | 0xf000, "callee-saved registers are known, others not");
	is_u64(step(&k, t, CODE + 0x20), UNWIND_MORE, "behind leave");
	is_u64(k.s.reg[3], 0x103, "what lies below sp was restored already");
	is_u64(step(&k, t, CODE + 0x100), UNWIND_MORE, "behind the FDE: frame pointer");
	is_u64(k.s.ip, 0x5000 + 17, "from the frame that rbp points at");
	unwind_table_close(t);
}

static void test_ends(void)
{
	struct bytes b;
	struct unwind_table *t = table_of(&b, "zR", STR("\x07\x10"));
	struct stack k;

	is_u64(step(&k, t, CODE), UNWIND_ROOT, "undefined return address");
	ok(!k.s.unproven, "  by the table alone");
	unwind_table_close(t);
	t = table_of(&b, "zR", STR(""));
	stack_new(&k, CODE);
	k.word[0] = 0;
	is_u64(unwind_step(&k.s, (struct unwind_code){ t, 0 }, true), UNWIND_ROOT, "return address 0");
	stack_new(&k, CODE);
	k.s.stack.n = 4;
	is_u64(unwind_step(&k.s, (struct unwind_code){ t, 0 }, true), UNWIND_STACK_CUT, "no whole word");
	is_u64(k.s.ip, CODE, "the state stays");
	unwind_table_close(t);
	t = table_of(&b, "zR", STR("\x0c\x06\x00"));
	stack_new(&k, CODE);
	k.s.bp = STACK;
	is_u64(unwind_step(&k.s, (struct unwind_code){ t, 0 }, true), UNWIND_LOOP, "CFA not above sp");
	k.s.valid = 1U << 7;
	is_u64(unwind_step(&k.s, (struct unwind_code){ t, 0 }, true), UNWIND_NO_CODE, "CFA of an unknown register");
	unwind_table_close(t);
}

static void test_frame_pointers(void)
{
	struct stack k;

	is_u64(step(&k, NULL, CODE), UNWIND_MORE, "no table: frame pointer");
	is_u64(k.s.bp, 0x5010, "rbp of the caller");
	ok(k.s.unproven, "which may be none, since it is not known if the code keeps frame pointers");
	is_u64(k.s.valid, 1U << 6 | 1U << 7, "only rbp and rsp are known");
	is_u64(unwind_step(&k.s, (struct unwind_code){ 0 }, false), UNWIND_NO_CODE, "below the stack");
	stack_new(&k, CODE);
	k.s.bp++;
	is_u64(unwind_step(&k.s, (struct unwind_code){ 0 }, true), UNWIND_NO_CODE, "not aligned");
	stack_new(&k, CODE);
	k.s.bp = 0;
	is_u64(unwind_step(&k.s, (struct unwind_code){ 0 }, true), UNWIND_ROOT, "0 marks the outermost frame");
	stack_new(&k, CODE);
	k.s.bp = STACK + sizeof(k.word) - 8;
	is_u64(unwind_step(&k.s, (struct unwind_code){ 0 }, true), UNWIND_STACK_CUT, "half behind the copy");
	is_u64(step(&k, NULL, 0), UNWIND_MORE, "a call of address 0");
	is_u64(k.s.ip, 0x5000, "returns to the top of the stack");
}

static void test_other_rules(void)
{
	struct bytes b;
	/* remember, CFA rbx+16, restore */
	struct unwind_table *t = table_of(&b, "zR", STR("\x0a\x41\x0c\x03\x10\x41\x0b\x41\x0e\x18"));
	struct stack k;

	stack_new(&k, CODE + 1);
	k.s.reg[3] = STACK + 0x20;
	is_u64(unwind_step(&k.s, (struct unwind_code){ t, 0 }, true), UNWIND_MORE, "CFA by rbx");
	is_u64(k.s.ip, 0x5005, "return address below it");
	is_u64(step(&k, t, CODE + 2), UNWIND_MORE, "restored state");
	is_u64(k.s.ip, 0x5000, "CFA is rsp+8 again");
	is_u64(step(&k, t, CODE + 3), UNWIND_MORE, "and what follows");
	is_u64(k.s.ip, 0x5002, "applies to it");
	unwind_table_close(t);

	/* r11 holds the return address; rbx is CFA+8 */
	t = table_of(&b, "zR", STR("\x09\x10\x0b\x15\x03\x7f"));
	is_u64(step(&k, t, CODE), UNWIND_MORE, "return address in a register");
	is_u64(k.s.ip, 0x10b, "r11");
	is_u64(k.s.reg[3], STACK + 16, "a value, not a place");
	unwind_table_close(t);

	/* the PLT: rsp + 8 + ((rip & 15) >= 11) * 8 */
	t = table_of(&b, "zR", STR("\x0f\x0b\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22"));
	is_u64(step(&k, t, CODE + 6), UNWIND_MORE, "PLT, before the push");
	is_u64(k.s.ip, 0x5000, "one word");
	is_u64(step(&k, t, CODE + 11), UNWIND_MORE, "PLT, behind the push");
	is_u64(k.s.ip, 0x5001, "two words");
	unwind_table_close(t);

	/* gcc's realigned stacks: CFA is *(rbp - 8) */
	t = table_of(&b, "zR", STR("\x0f\x03\x76\x78\x06"));
	stack_new(&k, CODE);
	k.word[15] = STACK + 0x100;
	is_u64(unwind_step(&k.s, (struct unwind_code){ t, 0 }, true), UNWIND_MORE, "CFA from the stack");
	is_u64(k.s.ip, 0x5000 + 31, "below it");
	unwind_table_close(t);
}

static void test_signal(void)
{
	struct bytes b;
	/* CFA *(rsp+160), rip at rsp+168, rsp at rsp+160, rbp at rsp+120, rax at rsp+144, as in libc */
	struct unwind_table *t = table_of(&b, "zRS",
					  STR("\x0f\x04\x77\xa0\x01\x06\x10\x10\x03\x77\xa8\x01\x10\x07\x03\x77\xa0\x01"
					      "\x10\x06\x03\x77\xf8\x00\x10\x00\x03\x77\x90\x01"));
	struct stack k;
	unsigned n = 0;

	stack_new(&k, CODE + 0x10);
	k.word[20] = 0x100000; /* far below */
	is_u64(unwind_step(&k.s, (struct unwind_code){ t, 0 }, false), UNWIND_MORE, "signal frame");
	is_u64(k.s.ip, 0x5000 + 21, "rip");
	is_u64(k.s.sp, 0x100000, "rsp of another stack");
	is_u64(k.s.bp, 0x5000 + 15, "rbp");
	is_u64(k.s.reg[0], 0x5000 + 18, "rax, too");
	ok(k.s.interrupted, "the caller was interrupted");

	stack_new(&k, CODE);
	k.word[20] = STACK;
	k.word[21] = CODE;
	while (unwind_step(&k.s, (struct unwind_code){ t, 0 }, false) == UNWIND_MORE && n < 1000)
		n++;
	is_u64(n, 16, "a circle of signal frames ends");
	unwind_table_close(t);
}

/* A return address behind the last instruction of a function is of that function. */
static void test_borders(void)
{
	struct bytes b = { 0 };
	const char *why;
	struct unwind_table *t;
	struct stack k;

	put_cie(&b, "zR", USUAL);
	put_fde(&b, CODE + 0x10, 0x10, STR("\x0e\x18"));
	put_fde(&b, CODE, 0x10, STR("\x0e\x10"));
	put(&b, 0, 4);
	put_fde(&b, CODE + 0x20, 0x10, STR("\x0e\x20"));
	t = unwind_table_memory(view(&b), AT, &why);
	step(&k, t, CODE + 0x10);
	is_u64(k.s.sp, STACK + 0x18, "interrupted at the start of the next function");
	stack_new(&k, CODE + 0x10);
	k.s.interrupted = false;
	unwind_step(&k.s, (struct unwind_code){ t, 0 }, false);
	is_u64(k.s.sp, STACK + 0x10, "called from the function before");
	step(&k, t, CODE + 0x2f);
	is_u64(k.s.sp, STACK + 0x20, "behind a terminator in the middle");
	ok(!unwind_table_row(t, CODE - 1) && !unwind_table_row(t, CODE + 0x30) && !unwind_table_row(t, UINT64_MAX),
	   "no rows elsewhere");
	stack_new(&k, 0x7f0000001000);
	unwind_step(&k.s, (struct unwind_code){ t, 0x7f0000000000 }, true);
	is_u64(k.s.sp, STACK + 0x10, "bias");
	unwind_table_close(t);
}

/* CFA expressions that leave `want` (the CFA), or fail. */
static void evaluates(struct str string, uint64_t want, const char *what)
{
	uint32_t effort = 100000;
	struct cfi_place p = { .valid = 0x1ffff, .stack_start = STACK, .effort = &effort };
	uint64_t word[2] = { 0x8877665544332211, 0 }, got = 0;

	p.stack = (struct str){ (const char *)word, sizeof(word) };
	for (unsigned i = 0; i < CFI_NREGS; i++)
		p.reg[i] = i;
	p.reg[7] = STACK;
	ok(cfi_evaluate(string, &p, NULL, &got), what);
	is_u64(got, want, what);
}

static void fails(struct str string, const char *what)
{
	uint32_t effort = 100000;
	struct cfi_place p = { .valid = 0x80, .stack_start = STACK, .effort = &effort };
	uint64_t got;

	ok(!cfi_evaluate(string, &p, NULL, &got), what);
}

/* What may be spent on a whole stack is spent by each expression. */
static void test_effort(void)
{
	uint32_t effort = 7;
	struct cfi_place p = { .effort = &effort };
	uint64_t got;

	ok(cfi_evaluate(STR("\x31\x32\x22"), &p, NULL, &got) && effort == 4, "three operations cost three");
	ok(cfi_evaluate(STR("\x31\x32\x22"), &p, NULL, &got) && effort == 1, "and three more");
	ok(!cfi_evaluate(STR("\x31\x32\x22"), &p, NULL, &got) && effort == 0, "what is not there cannot be spent");
	ok(!cfi_evaluate(STR("\x31"), &p, NULL, &got) && effort == 0, "and nothing comes back");
}

static void test_expressions(void)
{
	evaluates(STR("\x09\xff"), UINT64_MAX, "const1s");
	evaluates(STR("\x0a\x34\x12"), 0x1234, "const2u");
	evaluates(STR("\x0d\xfe\xff\xff\xff"), (uint64_t)-2, "const4s");
	evaluates(STR("\x0e\x01\x02\x03\x04\x05\x06\x07\x08"), 0x0807060504030201, "const8u");
	evaluates(STR("\x10\x80\x02\x11\x7f\x22"), 255, "constu constu plus");
	evaluates(STR("\x33\x35\x1c"), (uint64_t)-2, "minus");
	evaluates(STR("\x33\x35\x16\x1c"), 2, "swap");
	evaluates(STR("\x31\x32\x33\x17\x1c\x1e"), (uint64_t)-3, "rot");
	evaluates(STR("\x31\x32\x14\x15\x02\x22\x22\x22"), 5, "over, pick");
	evaluates(STR("\x37\x1f\x32\x1b"), (uint64_t)-3, "neg div is signed");
	evaluates(STR("\x10\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01\x09\xff\x1b"), 1ULL << 63, "least / -1");
	evaluates(STR("\x37\x32\x1d"), 1, "mod");
	evaluates(STR("\x31\x1f\x34\x26"), UINT64_MAX, "shra");
	evaluates(STR("\x31\x10\x80\x01\x24"), 0, "shl by 128");
	evaluates(STR("\x31\x28\x01\x00\x30\x35"), 5, "bra taken"); /* over lit0 */
	evaluates(STR("\x30\x28\x01\x00\x36\x23\x01"), 7, "bra not taken");
	evaluates(STR("\x77\x00\x06"), 0x8877665544332211, "deref");
	evaluates(STR("\x77\x01\x94\x02"), 0x3322, "deref_size");
	evaluates(STR("\x92\x03\x7f"), 2, "bregx");
	fails(STR(""), "nothing");
	fails(STR("\x22"), "no operands");
	fails(STR("\x30\x30\x1b"), "division by 0");
	fails(STR("\x30\x30\x1d"), "modulo 0");
	fails(STR("\x2f\xfd\xff"), "a loop");
	fails(STR("\x2f\x70\xff"), "a jump before the start");
	fails(STR("\x2f\x01\x00"), "a jump behind the end");
	fails(STR("\x73\x00"), "an unknown register");
	fails(STR("\x8f\x00"), "a register that there is not");
	fails(STR("\x77\x00\x06"), "no stack");
	fails(STR("\x30\x94\x09"), "9 bytes");
	fails(STR("\x0c\x01"), "cut constant");
	fails(STR("\x10\x80\x80"), "cut LEB128");
	fails(STR("\xff\x01"), "unknown operation");
	fails(STR("\x30\x12\x12\x2f\xfc\xff"), "operands without end");
}

static void test_debug_frame(void)
{
	struct bytes b = { 0 };
	struct cfi c;
	struct cfi_entry e;
	struct cfi_rows *rows;
	size_t next, fde;

	put(&b, 0, 4);
	put(&b, UINT32_MAX, 4);
	put(&b, 4, 1); /* version; no augmentation; sizes of address and segment */
	put(&b, 0, 1);
	put(&b, 8, 2);
	put(&b, 1, 1);
	put(&b, 0x78, 1);
	put(&b, 16, 1);
	put_program(&b, USUAL);
	end_entry(&b, 0);
	fde = b.n;
	put(&b, UINT32_MAX, 4); /* 64-bit DWARF */
	put(&b, 8 + 8 + 8 + 2, 8);
	put(&b, 0, 8);
	put(&b, CODE, 8);
	put(&b, 0x20, 8);
	put_program(&b, STR("\x0e\x10"));
	c = (struct cfi){ .bytes = view(&b), .debug = true };
	is_u64(cfi_entry_at(&c, 0, &e, &next), CFI_CIE, "CIE of .debug_frame");
	is_u64(next, fde, "the FDE is next");
	is_u64(cfi_entry_at(&c, fde, &e, &next), CFI_FDE, "FDE of 64-bit DWARF");
	is_u64(next, b.n, "then the end");
	is_u64(e.start, CODE, "start");
	is_u64(e.length, 0x20, "length");
	rows = cfi_rows_of(&c, &e, CODE);
	ok(rows && rows->n == 1 && rows->row[0].cfa == 16, "a row");
	cfi_rows_free(rows);
}

/* Whatever is there: no reading beside it (sanitizers see), no loop without end. */
static void poke(const struct bytes *bytes, size_t n)
{
	char *copy = malloc(n ? n : 1);
	const char *why;
	struct unwind_table *t;
	struct stack k;

	memcpy(copy, bytes->p, n);
	t = unwind_table_memory((struct str){ copy, n }, AT, &why);
	for (unsigned i = 0; i < 8; i++) {
		unsigned steps = 0;

		stack_new(&k, CODE + 3 * i);
		while (t && steps++ < 10000 && unwind_step(&k.s, (struct unwind_code){ t, 0 }, false) == UNWIND_MORE)
			k.s.ip = CODE + (k.s.ip & 63);
		if (steps >= 10000)
			ok(false, "a stack without end");
	}
	unwind_table_close(t);
	free(copy);
}

static void test_input_errors(void)
{
	static const uint8_t value[] = { 0, 1, 0x7f, 0x80, 0xff };
	struct bytes b = { 0 };

	put_cie(&b, "zRS", USUAL);
	put_fde(&b, CODE, 0x100,
		STR("\x41\x0e\x10\x86\x02\x43\x0d\x06\x0a\x41\x83\x03\x42\x0b\x02\x04\x0f\x04\x77\xa0\x01\x06\x10\x10\x03\x77\xa8\x01"));
	put_fde(&b, CODE + 0x100, 0x40, STR("\x16\x06\x02\x76\x78\x2e\x10\x04\x01\x00\x00\x00\x09\x03\x06"));
	for (size_t n = 0; n <= b.n; n++)
		poke(&b, n);
	for (size_t i = 0; i < b.n; i++) {
		for (unsigned v = 0; v < countof(value); v++) {
			struct bytes other = b;

			other.p[i] = value[v];
			poke(&other, other.n);
		}
	}
	ok(true, "every cut, and five values of every byte");
}

static void test_limits(void)
{
	struct bytes b = { 0 };
	struct str all = { (const char *)b.p, sizeof(b.p) };
	const char *why = NULL;
	struct unwind_table *t;
	char program[300];
	struct stack k;

	memset(b.p, 0xff, sizeof(b.p));
	ok(!unwind_table_memory(all, AT, &why) && why, "a length larger than any");
	memset(b.p, 0, sizeof(b.p));
	ok(!unwind_table_memory(all, AT, &why), "only terminators");
	ok(!unwind_table_memory((struct str){ 0 }, AT, &why), "nothing");
	memset(program, 0x0a, sizeof(program));
	t = table_of(&b, "zR", (struct str){ program, sizeof(program) });
	ok(!unwind_table_row(t, CODE), "states remembered without end");
	unwind_table_close(t);
	memset(program, 0x80, sizeof(program));
	program[0] = 0x0e;
	program[299] = 0;
	t = table_of(&b, "zR", (struct str){ program, sizeof(program) });
	ok(!unwind_table_row(t, CODE), "a LEB128 of 299 bytes");
	unwind_table_close(t);
	program[60] = 0;
	t = table_of(&b, "zR", (struct str){ program, 61 });
	ok(unwind_table_row(t, CODE) && unwind_table_row(t, CODE)->cfa == 0, "a LEB128 that an assembler padded");
	unwind_table_close(t);
	t = table_of(&b, "zR", STR("\x0c\x99\x01\x08"));
	is_u64(step(&k, t, CODE), UNWIND_MORE, "CFA of a register that there is not: frame pointer");
	unwind_table_close(t);
	t = table_of(&b, "zR", STR("\x0c\x10\x08"));
	is_u64(step(&k, t, CODE), UNWIND_STACK_CUT, "CFA of the return address");
	unwind_table_close(t);
	unwind_table_close(NULL);
}

static void test_start(void)
{
	uint64_t regs[24];
	struct unwind_state s;

	for (unsigned i = 0; i < countof(regs); i++)
		regs[i] = 100 + i;
	ok(unwind_start(&s, 0xff0fff, regs, 2, STR("stack")), "perf's registers");
	is_u64(s.ip, 108, "ip");
	is_u64(s.sp, 107, "sp");
	is_u64(s.bp, 106, "bp");
	is_u64(s.stack_start, 107, "the copy starts at sp");
	is_u64(s.reg[1], 103, "dx");
	is_u64(s.reg[3], 101, "bx");
	is_u64(s.reg[8], 112, "r8 is the first behind ss");
	is_u64(s.reg[15], 119, "r15");
	is_u64(s.valid, 0xffff, "all are known");
	ok(s.interrupted, "code was interrupted");
	ok(unwind_start(&s, 0x1c0, regs, 2, STR("")) && s.bp == 100 && s.sp == 101 && s.ip == 102, "only bp, sp, ip");
	is_u64(s.valid, 0xc0, "others are unknown");
	ok(!unwind_start(&s, 0xff0fff, regs, 1, STR("")), "32-bit code");
	ok(!unwind_start(&s, 0xff0fff, regs, 0, STR("")), "no registers");
	ok(!unwind_start(&s, 0x40, regs, 2, STR("")), "neither sp nor ip");
}

int main(void)
{
	test_rows();
	test_ends();
	test_frame_pointers();
	test_other_rules();
	test_signal();
	test_borders();
	test_expressions();
	test_effort();
	test_debug_frame();
	test_input_errors();
	test_limits();
	test_start();
	return done();
}
