/* SPDX-License-Identifier: Apache-2.0 */
/* Trampolines of CPython: from each instruction to the caller, and code that is none. */
/* covers: unwind/trampolines.c */
#include "unwind/trampolines.h"

#include "test/lib/tap.h"
#include "unwind/dwarf/cfiunwind.h"

#if defined(__x86_64__)

/* NAME_code has the bytes of the instructions, NAME_end is behind them. */
#define CODE(name, text)                                                                                   \
	__asm__(".pushsection .rodata\n" #name "_code:\n" text "\n" #name "_end: .byte 0\n.popsection\n"); \
	extern const char name##_code[] __asm__(#name "_code"), name##_end[] __asm__(#name "_end")

/* Python/asm_trampoline.S of 3.12, one after the other as CPython lays them out; with -fcf-protection; with a
 * frame pointer. */
CODE(plain, "sub $8,%rsp\ncall *%rcx\nadd $8,%rsp\nret\nsub $8,%rsp\ncall *%rcx\nadd $8,%rsp\nret");
CODE(protected, ".zero 5\nendbr64\nsub $8,%rsp\ncall *%rcx\nadd $8,%rsp\nret\n.zero 16");
CODE(pointer, "nop\npush %rbp\nmov %rsp,%rbp\ncall *%rcx\npop %rbp\nret");
/* An instruction more, another distance, another register, no return. */
CODE(longer, "sub $8,%rsp\ncall *%rcx\nnop\nadd $8,%rsp\nret");
CODE(larger, "sub $24,%rsp\ncall *%rcx\nadd $24,%rsp\nret");
CODE(other, "sub $8,%rsp\ncall *%rdx\nadd $8,%rsp\nret");
CODE(jump, "sub $8,%rsp\ncall *%rcx\nadd $8,%rsp\njmp *%rax");

#define SPAN(name) ((struct str){ name##_code, (size_t)(name##_end - name##_code) })

enum { ADDRESS = 0x2000, CALLER = 0x401234, SP = 0x7000, CALLER_BP = 0x7100, OTHER_BP = 77 };

/* The stack from SP on: eight words. Only the word before the caller's sp has its return address. */
static uint64_t words[8];

/* Steps out of a frame at an offset of code, whose return address is `pushed` bytes above sp. saved: rbp is at sp. */
static bool steps(struct str code, uint64_t offset, unsigned pushed, bool saved)
{
	enum { BP_BIT = 1 << 6, SP_BIT = 1 << 7, IP_BIT = 1 << 8 }; /* numbers of registers in perf */
	struct text frames = { 0 };
	struct unwind_state state;
	struct unwind_code tables = { 0 };
	uint64_t regs[3] = { saved ? OTHER_BP : CALLER_BP, SP, ADDRESS + offset };
	const char *why;
	bool good;

	memset(words, 0x11, sizeof(words));
	words[0] = saved ? CALLER_BP : words[0];
	words[pushed / 8] = CALLER;
	trampolines_frames(code, ADDRESS, &frames);
	tables.table = unwind_table_memory(text_view(&frames), 0, &why);
	good = tables.table &&
	       unwind_start(&state, BP_BIT | SP_BIT | IP_BIT, regs, 2,
			    (struct str){ (const char *)words, sizeof(words) }) &&
	       unwind_step(&state, tables, true) == UNWIND_MORE && state.ip == CALLER && state.sp == SP + pushed + 8 &&
	       state.bp == CALLER_BP && !state.unproven;
	unwind_table_close((struct unwind_table *)(uintptr_t)tables.table);
	text_free(&frames);
	return good;
}

static size_t frames_of(struct str code)
{
	struct text frames = { 0 };
	size_t n;

	trampolines_frames(code, ADDRESS, &frames);
	n = frames.n;
	text_free(&frames);
	return n;
}

static void test_steps(void)
{
	ok(steps(SPAN(plain), 0, 0, false), "at the first instruction the return address is at sp");
	ok(steps(SPAN(plain), 4, 8, false), "8 bytes above it at the call");
	ok(steps(SPAN(plain), 6, 8, false), "and at its return address");
	ok(steps(SPAN(plain), 10, 0, false), "at sp again at the return");
	ok(steps(SPAN(plain), 11, 0, false) && steps(SPAN(plain), 17, 8, false), "the next trampoline follows at once");
	ok(steps(SPAN(protected), 5, 0, false) && steps(SPAN(protected), 9, 0, false), "endbr64 belongs to it");
	ok(steps(SPAN(protected), 15, 8, false) && steps(SPAN(protected), 19, 0, false), "  and moves what follows");
	ok(!steps(SPAN(protected), 4, 0, false) && !steps(SPAN(protected), 20, 0, false),
	   "  but not what is around it");
	ok(steps(SPAN(pointer), 1, 0, false), "with a frame pointer: before it is saved");
	ok(steps(SPAN(pointer), 2, 8, true) && steps(SPAN(pointer), 5, 8, true) && steps(SPAN(pointer), 7, 8, true),
	   "  while it is");
	ok(steps(SPAN(pointer), 8, 0, false), "  at the return");
}

static void test_others(void)
{
	struct str plain = SPAN(plain);

	is_u64(frames_of(SPAN(longer)), 0, "code with an instruction more is none");
	is_u64(frames_of(SPAN(larger)), 0, "  with a larger frame");
	is_u64(frames_of(SPAN(other)), 0, "  with a call by another register");
	is_u64(frames_of(SPAN(jump)), 0, "  without a return");
	is_u64(frames_of((struct str){ 0 }), 0, "  no code");
	is_u64(frames_of(str_head(plain, 10)), 0, "  one that is not complete");
	is_u64(frames_of(str_head(plain, 21)), frames_of(str_head(plain, 11)), "  of two only the complete one counts");
	ok(frames_of(plain) <= 4 * plain.n + 32, "the result has at most 4 bytes for each byte of code");
}

int main(void)
{
	test_steps();
	test_others();
	return done();
}

#else

int main(void)
{
	puts("1..0 # skip x86-64 only");
	return 0;
}

#endif
