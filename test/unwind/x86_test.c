/* SPDX-License-Identifier: Apache-2.0 */
/* Patterns of x86 code, compared with the assembler's own encodings. */
/* covers: unwind/x86.c unwind/x86.h */
#include "test/lib/tap.h"
#include "unwind/x86.h"

#if defined(__x86_64__)

/* mov TO, FROM in the encoding that HotSpot emits: gas has the prefix {load} for it, clang 14 does not. */
#if defined(__clang__)
#define MOV_RBP_RSP ".byte 0x48,0x8b,0xec"
#define MOV_RSP_R13 ".byte 0x49,0x8b,0xe5"
#define MOV_RSP_RBX ".byte 0x48,0x8b,0xe3"
#else
#define MOV_RBP_RSP "{load} mov %rsp,%rbp"
#define MOV_RSP_R13 "{load} mov %r13,%rsp"
#define MOV_RSP_RBX "{load} mov %rbx,%rsp"
#endif

/* NAME_code holds the bytes of the instructions, NAME_end is behind them. */
#define CODE(name, text)                                                                                   \
	__asm__(".pushsection .rodata\n" #name "_code:\n" text "\n" #name "_end: .byte 0\n.popsection\n"); \
	extern const uint8_t name##_code[] __asm__(#name "_code"), name##_end[] __asm__(#name "_end")

CODE(prologue, "push %rbp\n" MOV_RBP_RSP "\nsub $0x40,%rsp");
CODE(large, "mov %eax,-0x14000(%rsp)\npush %rbp\nsub $0x400,%rsp");
CODE(save, "sub $0x18,%rsp\nmov %rbp,0x10(%rsp)\nmov %rbp,0x210(%rsp)\nmov %rbp,(%rsp)");
CODE(epilogue, "add $0x40,%rsp\npop %rbp\n.byte 0x49,0x3b,0xa7,0x50,4,0,0\nja .+0x1006\nret");
CODE(poll, "mov 0x100(%r15),%r10\ntest %eax,(%r10)\nlea 0x100(%rip),%r10\nmov %r10,0x300(%r15)\njmp .+0x1005");
CODE(interpreted, "leave\nmovb $0,0x4ac(%r15)\npop %rsi\n" MOV_RSP_R13 "\njmp *%rsi");
CODE(entry, "pop %rax\nlea -8(%rsp,%rcx,8),%r14\npush %rax\npush %rbp\n" MOV_RBP_RSP "\npush %r13");
CODE(from_rbx, MOV_RSP_RBX);
CODE(from_memory, "mov (%rbx),%rsp");
CODE(popa, "mov (%rsp),%r15\nmov 8(%rsp),%r14\nmov 16(%rsp),%r13\nmov 24(%rsp),%r12\nmov 32(%rsp),%r11\n"
	   "mov 40(%rsp),%r10\nmov 48(%rsp),%r9\nmov 56(%rsp),%r8\nmov 64(%rsp),%rdi\nmov 72(%rsp),%rsi\n"
	   "mov 80(%rsp),%rbp\nmov 96(%rsp),%rbx\nmov 104(%rsp),%rdx\nmov 112(%rsp),%rcx\nmov 120(%rsp),%rax");
CODE(moves, "mov %rax,0x78(%rsp)\nmov %r9,0x178(%rsp)\nmov (%rsp),%rbp\nmovsd %xmm0,8(%rsp)\nmovsd %xmm9,0x100(%rsp)\n"
	    "vmovdqu %ymm1,0x20(%rsp)\nvextractf128 $1,%ymm3,0x40(%rsp)\nfldl 8(%rsp)");
CODE(no_moves, "mov (%rsp),%rsp\nmov %rax,8(%rbx)\nadd %rax,8(%rsp)\nlea 8(%rsp),%rax");
CODE(call, "nop\nnop\ncall .+0x12345");
CODE(indirect, "nop\nnop\nnop\nnop\nnop\ncall *%rax");
CODE(indirect_r10, "nop\nnop\nnop\nnop\nnop\ncall *%r10");
CODE(table, "nop\nnop\nnop\nnop\ncall *0x10(%rbx)");
CODE(table_32, "nop\ncall *0x1000(%rbx)");
CODE(indexed, "call *0x1000(%rbx,%rcx,8)");
CODE(indexed_8, "nop\nnop\nnop\ncall *0x10(%rbx,%rcx,8)");
CODE(jump, "nop\nnop\nnop\nnop\nnop\njmp *%rax");
CODE(push_memory, "nop\nnop\nnop\nnop\npush 0x10(%rbx)");

#define BYTES(name) ((size_t)(name##_end - name##_code))
#define BEGINS(name, at, pattern) x86_is(name##_code + (at), BYTES(name) - (at), pattern)

static void test_frames(void)
{
	ok(BEGINS(prologue, 0, X86_PUSH_RBP X86_MOV_RBP_RSP X86_SUB_RSP_8 "\x40"), "push rbp; mov rbp, rsp; sub rsp");
	ok(BEGINS(large, 0, X86_MOV_RSP_32_EAX) && BEGINS(large, 7, X86_PUSH_RBP X86_SUB_RSP_32), "a stack bang");
	ok(BEGINS(save, 4, X86_MOV_RSP_8_RBP) && BEGINS(save, 9, X86_MOV_RSP_32_RBP) &&
		   BEGINS(save, 17, X86_MOV_AT_RSP_RBP),
	   "rbp is saved at rsp + N, in three encodings");
	ok(BEGINS(epilogue, 0, X86_ADD_RSP_8) && BEGINS(epilogue, 4, X86_POP_RBP X86_CMP_RSP_R15_32) &&
		   BEGINS(epilogue, 12, X86_JA_32) && BEGINS(epilogue, 18, X86_RET),
	   "an epilogue with a poll");
	ok(BEGINS(poll, 0, X86_MOV_R10_R15_32) && BEGINS(poll, 7, X86_TEST_AT_R10_EAX X86_LEA_R10_RIP) &&
		   BEGINS(poll, 17, X86_MOV_R15_32_R10) && BEGINS(poll, 24, X86_JMP_32),
	   "polls in and out of line");
	ok(BEGINS(entry, 0, X86_POP_RAX X86_LEA_R14_RSP_RCX X86_PUSH_RAX X86_PUSH_RBP X86_MOV_RBP_RSP X86_PUSH_R13),
	   "the interpreter's method entry");
	ok(!x86_is(prologue_code, 2, X86_PUSH_RBP X86_MOV_RBP_RSP), "code that ends within a pattern does not match");
}

static void test_interpreter(void)
{
	ok(BEGINS(interpreted, 0, X86_LEAVE X86_MOV_R15_BYTE_32), "leave; mov byte [r15 + N]");
	ok(x86_opcode(interpreted_code[9]) == X86_OP_POP && (interpreted_code[9] & 7) == 6, "pop rsi");
	is_u64((uint64_t)x86_mov_rsp_from(interpreted_code + 10), 13, "mov rsp, r13");
	is_u64((uint64_t)x86_mov_rsp_from(from_rbx_code), 3, "mov rsp, rbx");
	ok(x86_mov_rsp_from(from_memory_code) < 0, "a load into rsp is none");
	ok(BYTES(popa) == X86_POPA_BYTES && memcmp(popa_code, x86_popa, X86_POPA_BYTES) == 0, "popa");
}

static void test_moves(void)
{
	size_t at = 0, n, counted = 0;

	for (; at < BYTES(moves) && (n = x86_stack_move_bytes(moves_code + at, BYTES(moves) - at)); at += n)
		counted++;
	ok(at == BYTES(moves) && counted == 8, "moves between registers and the stack, by their lengths");
	ok(!x86_stack_move_bytes(no_moves_code, BYTES(no_moves)), "a load into rsp ends the frame: no move");
	for (at = 4; at < BYTES(no_moves); at++)
		if (x86_stack_move_bytes(no_moves_code + at, BYTES(no_moves) - at))
			ok(false, "other operands and operations are no moves");
	is_u64(x86_stack_move_bytes(moves_code, 1), 0, "a cut move is none");
	is_u64(x86_stack_move_bytes(moves_code, 0), 0, "nor is nothing");
}

static void test_calls(void)
{
	int32_t displacement;

	ok(BYTES(call) == X86_CALL_MAX && x86_is_call_before(call_code, &displacement) && displacement == 0x12345 - 5,
	   "call rel32, with its displacement");
	ok(BYTES(indirect) == 7 && x86_is_indirect_call_before(indirect_code), "call rax");
	ok(x86_is_indirect_call_before(indirect_r10_code + 1), "call r10");
	ok(BYTES(table) == 7 && x86_is_indirect_call_before(table_code), "call [rbx + N]");
	ok(BYTES(table_32) == 7 && x86_is_indirect_call_before(table_32_code), "  with four bytes");
	ok(BYTES(indexed) == 7 && x86_is_indirect_call_before(indexed_code), "call [rbx + rcx * 8 + N]");
	ok(BYTES(indexed_8) == 7 && x86_is_indirect_call_before(indexed_8_code), "  with one byte");
	ok(!x86_is_call_before(indirect_code, &displacement), "no rel32");
	ok(!x86_is_indirect_call_before(jump_code), "jmp rax is no call");
	ok(!x86_is_indirect_call_before(push_memory_code), "push [rbx + N] is none");
	ok(!x86_is_indirect_call_before(call_code), "call rel32 is no indirect one");
}

int main(void)
{
	test_frames();
	test_interpreter();
	test_moves();
	test_calls();
	return done();
}

#else

int main(void)
{
	printf("1..0 # SKIP the assembler is not that of x86-64\n");
	return 0;
}

#endif
