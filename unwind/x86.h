/* SPDX-License-Identifier: Apache-2.0 */
/*
 * x86.h - byte patterns of the x86-64 instructions in prologues, epilogues, safepoint polls and calls.
 *
 * Modules take byte patterns of x86-64 code from here. Only unwindelf.c (.init, .fini), fold/symbols/plt.c and the
 * readers of interpreters (evalcode.c, perl.c, php.c and rubyeval.c below runtimes/) have patterns of their own.
 * A pattern is a string literal, so patterns concatenate:
 *
 *	x86_is(code, n, X86_PUSH_RBP X86_MOV_RBP_RSP)
 *
 * Names have the operands in Intel order. A suffix stands for the operand bytes after the pattern: _8 for one byte, _32
 * for four. Where an instruction has two encodings, the pattern is the one that HotSpot's assembler, gcc or glibc
 * emits; the users of a pattern name their sources. In comments N is the operand that the pattern lacks.
 */
#ifndef PJ_X86_H
#define PJ_X86_H

#include "common/base.h"

/* One-byte opcodes, and last bytes of patterns. */
enum {
	/* opcode of push rax; plus the register number for other registers; r8 to r15 are 0 to 7 after X86_OP_REX_B */
	X86_OP_PUSH = 0x50,
	X86_OP_PUSH_RAX = 0x50,
	X86_OP_PUSH_RBP = 0x55,
	X86_OP_POP = 0x58, /* opcode of pop rax; plus the register number for other registers */
	X86_OP_POP_RAX = 0x58,
	X86_OP_POP_RBP = 0x5d,
	X86_OP_REX_B = 0x41,
	X86_OP_RET = 0xc3,
	X86_OP_LEAVE = 0xc9,
	X86_OP_JMP_8 = 0xeb,
	X86_OP_JMP_32 = 0xe9,
	X86_OP_CALL = 0xe8,
	X86_OP_SUB_RSP_LAST = 0xec, /* last byte of X86_SUB_RSP_8 and of X86_SUB_RSP_32 */
	X86_OP_LEA_R10_LAST = 0x15, /* last byte of X86_LEA_R10_RIP */
};

#define X86_PUSH_RAX "\x50"
#define X86_PUSH_RDX "\x52"
#define X86_PUSH_RBP "\x55"
#define X86_PUSH_R13 "\x41\x55"
#define X86_PUSH_MINUS_1 "\x68\xff\xff\xff\xff"
#define X86_POP_RAX "\x58"
#define X86_POP_RDX "\x5a"
#define X86_POP_RBP "\x5d"
#define X86_RET "\xc3"
#define X86_ENDBR64 "\xf3\x0f\x1e\xfa"
#define X86_LEAVE "\xc9"
#define X86_VZEROUPPER "\xc5\xf8\x77"

/* ---- instructions on the stack pointer ---- */
#define X86_MOV_RBP_RSP "\x48\x8b\xec"
#define X86_MOV_RBP_RSP_GAS "\x48\x89\xe5" /* encoding of the GNU assembler and of compilers */
#define X86_MOV_RSP_R13 "\x49\x8b\xe5"
#define X86_MOV_R13_RSP "\x4c\x8b\xec"
#define X86_MOV_R11_RSP "\x4c\x8b\xdc"
#define X86_MOV_RSP_R15_32 "\x49\x8b\xa7"    /* mov rsp, [r15 + N] */
#define X86_LEA_RSP_RSP_8 "\x48\x8d\x64\x24" /* lea rsp, [rsp + N] */
#define X86_LEA_R13_RSP_PLUS_8 "\x4c\x8d\x6c\x24\x08"
#define X86_LEA_R14_RSP_RCX "\x4c\x8d\x74\xcc\xf8" /* lea r14, [rsp + rcx * 8 - 8] */
#define X86_SUB_RSP_8 "\x48\x83\xec"
#define X86_SUB_RSP_32 "\x48\x81\xec"
#define X86_ADD_RSP_8 "\x48\x83\xc4"
#define X86_ADD_RSP_32 "\x48\x81\xc4"
#define X86_AND_RSP_8 "\x48\x83\xe4"
/* first two bytes of sub, add or and of a 64-bit register; the third byte selects operation and register */
#define X86_SUB_8 "\x48\x83"
#define X86_SUB_32 "\x48\x81"
#define X86_TEST_ESP_15 "\xf7\xc4\x0f\x00\x00\x00"

/* ---- moves ---- */
#define X86_MOV_AT_RSP_RAX "\x48\x89\x04\x24" /* mov [rsp], rax */
#define X86_MOV_RAX_AT_RSP "\x48\x8b\x04\x24" /* mov rax, [rsp] */
#define X86_MOV_AT_RSP_RBP "\x48\x89\x2c\x24" /* mov [rsp], rbp */
#define X86_MOV_RBP_AT_RSP "\x48\x8b\x2c\x24" /* mov rbp, [rsp] */
#define X86_MOV_RSP_8_RAX "\x48\x89\x44\x24"  /* mov [rsp + N], rax */
#define X86_MOV_RSP_8_RBP "\x48\x89\x6c\x24"  /* mov [rsp + N], rbp */
#define X86_MOV_RSP_32_RBP "\x48\x89\xac\x24"
/* mov [rsp + N], eax: HotSpot's stack bang, which tests for the end of the stack */
#define X86_MOV_RSP_32_EAX "\x89\x84\x24"
#define X86_MOV_R10_R15_8 "\x4d\x8b\x57" /* mov r10, [r15 + N] */
#define X86_MOV_R10_R15_32 "\x4d\x8b\x97"
#define X86_MOV_R15_32_R10 "\x4d\x89\x97"  /* mov [r15 + N], r10 */
#define X86_MOV_R15_BYTE_32 "\x41\xc6\x87" /* mov byte [r15 + N], N */
#define X86_LEA_R10_RIP "\x4c\x8d\x15"     /* lea r10, [rip + N] */
#define X86_LEA_R10 "\x4c\x8d"

/* ---- comparisons, jumps, calls ---- */
#define X86_CMP_RSP_R15_8 "\x49\x3b\x67" /* cmp rsp, [r15 + N] */
#define X86_CMP_RSP_R15_32 "\x49\x3b\xa7"
#define X86_CMP_R15_8_IMM "\x49\x83\x7f" /* cmp qword [r15 + N], N */
#define X86_CMP_R15_32_IMM "\x49\x83\xbf"
#define X86_TEST_AT_R10_EAX "\x41\x85\x02" /* test [r10], eax */
#define X86_TEST_RIP_EAX "\x85\x05"        /* test [rip + N], eax */
#define X86_JA_32 "\x0f\x87"
#define X86_JE_32 "\x0f\x84"
#define X86_JNE_32 "\x0f\x85"
#define X86_JMP_32 "\xe9"
#define X86_JMP_OVER_CALL "\xe9\x05\x00\x00\x00\xe8" /* jmp over the 5-byte call after it, and opcode of that call */
#define X86_CALL "\xe8"
#define X86_CALL_RCX "\xff\xd1"

/* Evaluates to true if the first bytes of `code` are the bytes of the pattern. n: number of readable bytes of code. */
#define x86_is(code, n, pattern) ((size_t)(n) >= sizeof(pattern) - 1 && memcmp(code, pattern, sizeof(pattern) - 1) == 0)

/* Returns the opcode of a one-byte instruction whose last three bits are a register number. */
static inline uint8_t x86_opcode(uint8_t byte)
{
	return byte & 0xf8;
}

/* Returns the number of register B (0 to 15) if `code` is mov rsp, B; otherwise -1. */
int x86_mov_rsp_from(const uint8_t code[3]);

/* Returns the length in bytes of the instruction at the start of `code` if it moves a register from or to [rsp + N];
 * otherwise 0. Recognizes moves of general, x87, xmm and ymm registers, but no load of rsp. n: number of readable bytes
 * of code. */
uint32_t x86_stack_move_bytes(const uint8_t *code, size_t n);

/* Code of HotSpot's MacroAssembler::popa without its final add rsp: mov R, [rsp + N] for all general registers except
 * rsp, from r15 down to rax. */
enum { X86_POPA_BYTES = 74 };
extern const uint8_t x86_popa[X86_POPA_BYTES];

/* length in bytes of the longest call that x86_is_call_before and x86_is_indirect_call_before find */
enum { X86_CALL_MAX = 7 };

/* x86_is_call_before and x86_is_indirect_call_before look for a call that ends at a return address. code: the
 * X86_CALL_MAX bytes before that address. Bytes of other instructions can look like a call, so the result can refute a
 * return address but not prove one. */

/* Returns true if call rel32 ends at the return address. Always sets *displacement to the four bytes before that
 * address: for a call, the distance from the return address to the callee. */
bool x86_is_call_before(const uint8_t code[X86_CALL_MAX], int32_t *displacement);

/* Returns true if a call by a register, or by memory at a register plus displacement, ends at the return address.
 * Ignores calls by memory without displacement, which HotSpot does not emit. */
bool x86_is_indirect_call_before(const uint8_t code[X86_CALL_MAX]);

#endif
