/* SPDX-License-Identifier: Apache-2.0 */
#include "runtimes/hotspot/javaframe.h"

#include "unwind/x86.h"

enum { AFTER = 32, AHEAD = 24, PROLOGUE_MAX = 256 };

/* Copy of the code bytes around an address, clipped to the blob. Bytes outside of the blob match no pattern. */
struct window {
	uint8_t byte[AFTER + AHEAD];
	int from, to; /* offsets from the address of the first copied byte and of the end */
};

static bool javaframe_open_window(struct window *window, const struct javaunwind_code *jvm_code,
				  const struct code_blob *blob, uint64_t address)
{
	uint64_t after = address - blob->start, ahead = blob->end - address;

	window->from = after < AFTER ? -(int)after : -AFTER;
	window->to = ahead < AHEAD ? (int)ahead : AHEAD;
	return jvm_code->read(jvm_code->arg, address + (uint64_t)(int64_t)window->from, window->byte,
			      (size_t)(window->to - window->from));
}

static bool javaframe_bytes_at(const struct window *window, int at, const char *byte, int got)
{
	return at >= window->from && at + got <= window->to &&
	       memcmp(window->byte + (at - window->from), byte, (size_t)got) == 0;
}

#define AT(w, at, pattern) javaframe_bytes_at(w, at, pattern, (int)sizeof(pattern) - 1)

/* Matches mov rbp, rsp. */
static bool is_mov(const struct window *window, int at)
{
	return AT(window, at, X86_MOV_RBP_RSP);
}

/* Matches sub rsp, N. */
static bool is_sub(const struct window *window, int at)
{
	return AT(window, at, X86_SUB_RSP_8) || AT(window, at, X86_SUB_RSP_32);
}

/* Returns true if the instruction before offset `at` is add rsp, N. */
static bool after_add(const struct window *window, int at)
{
	return AT(window, at - 4, X86_ADD_RSP_8) || AT(window, at - 7, X86_ADD_RSP_32);
}

/* Returns the length in bytes of a safepoint poll cmp rsp, [r15 + N] at offset `at`; 0 if there is none. */
static int poll_bytes(const struct window *window, int at)
{
	if (AT(window, at, X86_CMP_RSP_R15_8))
		return 4;
	return AT(window, at, X86_CMP_RSP_R15_32) ? 7 : 0;
}

/* Returns true if the instructions before offset `at` are add rsp, N; pop rbp: the end of a frame. */
static bool after_pop(const struct window *window, int at)
{
	return AT(window, at - 1, X86_POP_RBP) && after_add(window, at - 1);
}

/* Returns true if the address is in the return poll, which is between pop rbp and ret. The polls differ between
 * JDKs. */
static bool in_return_poll(const struct window *window)
{
	/* After pop rbp comes a poll, ret, or a jump to an exception handler: no pattern is needed. */
	if (after_pop(window, 0))
		return true;
	if (AT(window, 0, X86_JA_32))
		/* JDK 17 and later: cmp rsp, [r15 + N]; ja */
		return (poll_bytes(window, -7) == 7 && AT(window, -8, X86_POP_RBP)) ||
		       (poll_bytes(window, -4) == 4 && AT(window, -5, X86_POP_RBP));
	if (AT(window, 0, X86_TEST_AT_R10_EAX))
		/* JDKs before 17: mov r10, [r15 + N]; test [r10], eax */
		return (AT(window, -7, X86_MOV_R10_R15_32) && AT(window, -8, X86_POP_RBP)) ||
		       (AT(window, -4, X86_MOV_R10_R15_8) && AT(window, -5, X86_POP_RBP));
	/* The poll's slow path is elsewhere in the blob: lea r10, [poll]; mov [r15 + N], r10; jmp handler. */
	return (AT(window, 0, X86_LEA_R10_RIP) && AT(window, 7, X86_MOV_R15_32_R10)) ||
	       (AT(window, -7, X86_LEA_R10_RIP) && AT(window, 0, X86_MOV_R15_32_R10)) ||
	       (AT(window, -14, X86_LEA_R10_RIP) && AT(window, -7, X86_MOV_R15_32_R10) && AT(window, 0, X86_JMP_32));
}

/* Returns true if the code at the address may follow leave: ret, vzeroupper, or, in native wrappers, a check for a
 * pending exception or a poll. */
static bool may_follow_leave(const struct window *window)
{
	return AT(window, 0, X86_RET) || AT(window, 0, X86_VZEROUPPER) || AT(window, 0, X86_CMP_R15_8_IMM) ||
	       AT(window, 0, X86_CMP_R15_32_IMM) || poll_bytes(window, 0) || AT(window, 0, X86_TEST_RIP_EAX) ||
	       AT(window, 0, X86_MOV_R10_R15_8) || AT(window, 0, X86_MOV_R10_R15_32);
}

/* Returns true if the address is between leave and ret. Native wrappers check for a pending exception there: cmp
 * [r15 + N], 0; jne. The byte of leave also ends many other instructions, so the following bytes are checked, too. */
static bool after_leave(const struct window *window)
{
	if (AT(window, -1, X86_LEAVE) && may_follow_leave(window))
		return true;
	if (AT(window, 0, X86_JNE_32))
		return (AT(window, -5, X86_CMP_R15_8_IMM) && AT(window, -6, X86_LEAVE)) ||
		       (AT(window, -8, X86_CMP_R15_32_IMM) && AT(window, -9, X86_LEAVE));
	return false;
}

/* ---- prologues --------------------------------------------------------------------------------------------------- */

/* Returns `at` if push rbp of a prologue is at offset `at`; otherwise -1. */
static int find_push(const struct window *window, int at)
{
	return AT(window, at, X86_PUSH_RBP) && (is_mov(window, at + 1) || is_sub(window, at + 1) ||
						AT(window, at - 7, X86_MOV_RSP_32_EAX)) ?
		       at :
		       -1;
}

/* Matches mov [rsp + N], rbp. C2 saves rbp this way in frames that need no stack bang (check for stack overflow). */
static bool is_save(const struct window *window, int at)
{
	return AT(window, at, X86_MOV_RSP_8_RBP) || AT(window, at, X86_MOV_RSP_32_RBP) ||
	       AT(window, at, X86_MOV_AT_RSP_RBP);
}

/* Returns the frame state by prologue patterns around the address, anywhere in the blob: a method with an
 * on-stack-replacement entry in a loop has a second prologue. */
static enum javaframe javaframe_around(const struct window *window)
{
	if (find_push(window, 0) == 0)
		return JAVAFRAME_NONE;
	if (AT(window, -1, X86_PUSH_RBP) && (is_mov(window, 0) || is_sub(window, 0)))
		return JAVAFRAME_RBP;
	if (AT(window, -4, X86_PUSH_RBP X86_MOV_RBP_RSP) && is_sub(window, 0))
		return JAVAFRAME_RBP;
	if (is_sub(window, 0) && (is_save(window, 4) || is_save(window, 7)))
		return JAVAFRAME_NONE;
	if (is_save(window, 0) && (AT(window, -4, X86_SUB_RSP_8) || AT(window, -7, X86_SUB_RSP_32)))
		return JAVAFRAME_UNSAVED;
	return JAVAFRAME_COMPLETE;
}

/* Returns true if offset `at` of a prologue is before or at the first instruction that builds the frame: push rbp, or
 * sub rsp if that comes first. Returns false if this is not certain. */
static bool before_push(const struct javaunwind_code *jvm_code, const struct code_blob *blob, uint32_t at)
{
	uint8_t byte[PROLOGUE_MAX];
	uint32_t n = blob->nmethod.complete - blob->nmethod.entry, push;

	if (n > PROLOGUE_MAX || n < 4 || !jvm_code->read(jvm_code->arg, blob->start + blob->nmethod.entry, byte, n))
		return false;
	at -= blob->nmethod.entry;
	for (push = 0; push + 4 <= n; push++) {
		const uint8_t *b = byte + push;

		if (x86_is(b, 3, X86_SUB_RSP_8) || x86_is(b, 3, X86_SUB_RSP_32))
			return at <= push;
		if (b[0] == X86_OP_PUSH_RBP && (x86_is(b + 1, 3, X86_MOV_RBP_RSP) || x86_is(b + 1, 3, X86_SUB_RSP_8) ||
						x86_is(b + 1, 3, X86_SUB_RSP_32)))
			return at <= push;
		if (b[0] == X86_OP_PUSH_RBP && push >= 7 && x86_is(b - 7, 3, X86_MOV_RSP_32_EAX))
			return at <= push;
	}
	return false;
}

enum javaframe javaframe_compiled(const struct javaunwind_code *jvm_code, const struct code_blob *blob,
				  uint64_t address)
{
	uint64_t at = address - blob->start;
	enum javaframe javaframe;
	struct window window;

	if (at < blob->nmethod.entry)
		/* Before the verified entry point, the code checks the receiver's class. */
		return JAVAFRAME_NONE;
	if (jvm_code->how)
		return (enum javaframe)jvm_code->how(jvm_code->arg, blob, address);
	if (!javaframe_open_window(&window, jvm_code, blob, address))
		return JAVAFRAME_COMPLETE;
	javaframe = javaframe_around(&window);
	if (javaframe != JAVAFRAME_COMPLETE)
		return javaframe;
	if (blob->nmethod.complete != BLOB_NEVER && blob->nmethod.complete > blob->nmethod.entry &&
	    at < blob->nmethod.complete && before_push(jvm_code, blob, (uint32_t)at))
		return JAVAFRAME_NONE;
	if (AT(&window, 0, X86_RET))
		return JAVAFRAME_NONE;
	if (AT(&window, 0, X86_POP_RBP) && after_add(&window, 0))
		return JAVAFRAME_RBP;
	if (in_return_poll(&window) || (blob->kind == BLOB_NATIVE && after_leave(&window)))
		return JAVAFRAME_NONE;
	return JAVAFRAME_COMPLETE;
}

enum javaframe javaframe_stub(const struct javaunwind_code *jvm_code, const struct code_blob *blob, uint64_t address)
{
	struct window window;

	if (address <= blob->start + blob->stub.push_rbp)
		return JAVAFRAME_NONE;
	if (address == blob->start + blob->stub.push_rbp + 1)
		return JAVAFRAME_RBP;
	if (jvm_code->how)
		return (enum javaframe)jvm_code->how(jvm_code->arg, blob, address);
	if (javaframe_open_window(&window, jvm_code, blob, address) &&
	    (AT(&window, 0, X86_RET) || after_leave(&window)))
		return JAVAFRAME_NONE;
	return JAVAFRAME_COMPLETE;
}

uint32_t javaframe_put_away(const struct javaunwind_code *jvm_code, const struct code_blob *blob, uint64_t address)
{
	enum { BEGIN = 64, AND = 4, MOV = 5 };
	uint64_t begin = blob->start + blob->stub.push_rbp, n = blob->end - begin;
	uint8_t byte[BEGIN];

	n = n < BEGIN ? n : BEGIN;
	if (address < begin || address >= blob->end || !jvm_code->read(jvm_code->arg, begin, byte, n))
		return 0;
	for (uint64_t i = 0; i + AND + MOV <= n; i++) {
		uint64_t at = i + AND;

		if (memcmp(byte + i, X86_AND_RSP_8, 3) != 0) /* and rsp, N */
			continue;
		if (memcmp(byte + at, X86_MOV_RSP_8_RAX, 4) == 0) /* optional: mov [rsp + A], rax */
			at += MOV;
		if (at + MOV > n || memcmp(byte + at, X86_MOV_RSP_8_RBP, 4) != 0)
			return 0;
		return address - begin >= at + MOV ? byte[at + 4] : 0;
	}
	return 0;
}

/* ---- stubs without a frame --------------------------------------------------------------------------------------- */

/* Skips a push (X86_OP_PUSH) or pop (X86_OP_POP) of a register at byte[*at], with or without REX prefix. Returns
 * false if there is none. */
static bool moves_word(const uint8_t *byte, uint32_t n, uint32_t *at, uint8_t opcode)
{
	uint32_t i = *at + (*at < n && byte[*at] == X86_OP_REX_B);

	if (i >= n || x86_opcode(byte[i]) != opcode)
		return false;
	*at = i + 1;
	return true;
}

/* Matches sub rsp, N, for N below 128. */
static bool makes_space(const uint8_t *b)
{
	return memcmp(b, X86_SUB_RSP_8, 3) == 0 && b[3] < 0x80;
}

/* Matches add rsp, N for N below 128, and lea rsp, [rsp + N], which preserves the flags. */
static bool frees_space(const uint8_t *b)
{
	return (memcmp(b, X86_ADD_RSP_8, 3) == 0 && b[3] < 0x80) || memcmp(b, X86_LEA_RSP_RSP_8, 4) == 0;
}

/* Returns true if add rsp or lea rsp follows offset `at` before the next ret, so that stack space is still reserved
 * at `at`. */
static bool is_freed(const uint8_t *byte, uint32_t n, uint32_t at)
{
	while (at + 5 <= n && byte[at] != X86_OP_RET && !frees_space(byte + at))
		at++;
	return at + 5 <= n && byte[at] != X86_OP_RET;
}

uint32_t javaframe_pushed(const struct javaunwind_code *jvm_code, const struct code_blob *blob, uint64_t address,
			  uint32_t *more)
{
	uint8_t byte[PROLOGUE_MAX];
	uint32_t n = blob->end - blob->start < PROLOGUE_MAX ? (uint32_t)(blob->end - blob->start) : PROLOGUE_MAX, at,
		 words;
	uint64_t where = address - blob->start;
	uint32_t space = 0;

	*more = 0;
	if (!jvm_code->read(jvm_code->arg, blob->start, byte, n))
		return 0;
	if (where < n) {
		/* Near the end of the stub only pops and ret follow: their number gives the pushed bytes. */
		for (at = (uint32_t)where, words = 0; moves_word(byte, n, &at, X86_OP_POP); words++)
			;
		if (at < n && byte[at] == X86_OP_RET)
			return 8 * words;
	}
	for (at = 0, words = 0; at < where && moves_word(byte, n, &at, X86_OP_PUSH); words++)
		;
	for (; words && at + 5 <= n && at < where; at++) {
		if (makes_space(byte + at))
			space = *more = byte[at + 3];
		else if (frees_space(byte + at))
			*more = 0;
		else if (byte[at] == X86_OP_RET || byte[at] == X86_OP_JMP_32 || byte[at] == X86_OP_JMP_8)
			/* The code after this ret or jmp is reached by jumps. Stack space is reserved there if that
			 * code frees it. */
			*more = is_freed(byte, n, at + 1) ? space : 0;
	}
	return 8 * words;
}

uint32_t javaframe_aligned(const struct javaunwind_code *jvm_code, uint64_t address)
{
	uint8_t byte[4];

	return jvm_code->read(jvm_code->arg, address, byte, 4) && x86_is(byte, 4, X86_ADD_RSP_8 "\x08") ? 8 : 0;
}

uint32_t javaframe_arguments(const struct javaunwind_code *jvm_code, uint64_t address)
{
	uint8_t byte[5];

	/* Barriers of ZGC in C1 code push arguments and pop them by add rsp, 16. If pop rbp follows, the add is the
	 * end of the frame instead. */
	if (!jvm_code->read(jvm_code->arg, address, byte, sizeof(byte)) || !x86_is(byte, 4, X86_ADD_RSP_8 "\x10") ||
	    byte[4] == X86_OP_POP_RBP)
		return 0;
	return byte[4] == X86_OP_POP_RAX ? 24 : 16;
}

/* ---- registers spilled for a call -------------------------------------------------------------------------------- */

enum { SPILL_CODE_MAX = 640, SPACE_MAX = 1024, SPILLED_MAX = 4096, LONGEST = 11 };

/* State of following code, instruction by instruction, from an interrupted address or a return address. */
struct follow {
	const uint8_t *byte;
	uint32_t n, at;
	uint64_t sp;  /* value of rsp when the code reaches offset `at` */
	bool aligned; /* result of the last alignment test of rsp (test esp, 15) */
	bool done;    /* true at the end: all registers are restored, or the return address is at sp */
};

static uint8_t follow_byte(const struct follow *follower, uint32_t ahead)
{
	return follower->at + ahead < follower->n ? follower->byte[follower->at + ahead] : 0;
}

static bool follow_is(const struct follow *follower, const char *what, uint32_t length)
{
	return follower->at + length <= follower->n && memcmp(follower->byte + follower->at, what, length) == 0;
}

#define FOLLOW_IS(f, what) follow_is(f, what, sizeof(what) - 1)

static bool follow_move(struct follow *follower)
{
	uint32_t n = x86_stack_move_bytes(follower->byte + follower->at, follower->n - follower->at);

	follower->at += n;
	return n != 0;
}

/* Follows add rsp, N or sub rsp, N. Returns false if neither is at the current offset. */
static bool follow_space(struct follow *follower)
{
	bool frees = FOLLOW_IS(follower, X86_ADD_RSP_8) || FOLLOW_IS(follower, X86_ADD_RSP_32);
	bool wide = FOLLOW_IS(follower, X86_ADD_RSP_32) || FOLLOW_IS(follower, X86_SUB_RSP_32);
	uint32_t n = 0;

	if (!frees && !wide && !FOLLOW_IS(follower, X86_SUB_RSP_8))
		return false;
	for (uint32_t i = 0; i < (wide ? 4 : 1); i++)
		n |= (uint32_t)follow_byte(follower, 3 + i) << 8 * i;
	if (n == 0 || n > SPACE_MAX || n % 8)
		return false;
	/* add rsp, 128 after the pops ends MacroAssembler::popa: all registers are restored. */
	follower->done = frees && n == 128 && follower->at >= X86_POPA_BYTES &&
			 memcmp(follower->byte + follower->at - X86_POPA_BYTES, x86_popa, X86_POPA_BYTES) == 0;
	follower->sp += frees ? n : -(uint64_t)n;
	follower->at += wide ? 7 : 4;
	return true;
}

/* Follows one instruction of a call that HotSpot emits twice, with and without alignment of the stack. Skips a call
 * instruction as if the callee had returned. Returns false for any other instruction. */
static bool follow_call(struct follow *follower)
{
	uint32_t away;

	if (FOLLOW_IS(follower, X86_TEST_ESP_15)) {
		follower->aligned = follower->sp % 16 == 0;
		follower->at += 6;
	} else if (FOLLOW_IS(follower, X86_JE_32) && follow_byte(follower, 3) == 0) {
		/* je jumps over the first call */
		away = follow_byte(follower, 2);
		follower->at += 6 + (follower->aligned ? away : 0);
	} else if (FOLLOW_IS(follower, X86_JMP_OVER_CALL)) {
		/* jmp jumps over the second call */
		follower->at += 10;
	} else if (FOLLOW_IS(follower, X86_CALL)) {
		follower->at += 5;
	} else {
		return false;
	}
	return true;
}

/* Matches pop rax; mov rsp, r13, the end of the interpreter's entry of a math intrinsic. */
static bool is_at_return(const struct follow *follower)
{
	return FOLLOW_IS(follower, X86_POP_RAX X86_MOV_RSP_R13);
}

static void javaframe_follow(struct follow *follower)
{
	while (!follower->done && follower->at < follower->n &&
	       (follow_space(follower) || follow_move(follower) || follow_call(follower)))
		;
	follower->done = follower->done || is_at_return(follower);
}

/* Returns true if the code from `address` on may restore spilled registers. sp: value of rsp there; ahead: number of
 * bytes to the end of the blob. Follows only AHEAD bytes, which were read for the frame state, too: this excludes most
 * code cheaply. */
static bool may_spill(const struct javaunwind_code *jvm_code, uint64_t address, uint64_t sp, uint32_t ahead)
{
	uint8_t byte[AHEAD];
	struct follow follower = { .byte = byte, .n = ahead < AHEAD ? ahead : AHEAD, .sp = sp };

	if (!jvm_code->read(jvm_code->arg, address, byte, follower.n))
		return false;
	javaframe_follow(&follower);
	return follower.done || follower.at + LONGEST > follower.n;
}

uint32_t javaframe_spilled(const struct javaunwind_code *jvm_code, const struct code_blob *blob, uint64_t address,
			   uint64_t sp)
{
	uint8_t byte[X86_POPA_BYTES + SPILL_CODE_MAX];
	uint64_t after = address - blob->start, ahead = blob->end - address;
	struct follow follower = { .byte = byte, .sp = sp };

	if (address < blob->start || address >= blob->end)
		return 0;
	follower.at = after < X86_POPA_BYTES ? (uint32_t)after : X86_POPA_BYTES;
	follower.n = follower.at + (ahead < SPILL_CODE_MAX ? (uint32_t)ahead : SPILL_CODE_MAX);
	if (!may_spill(jvm_code, address, sp, follower.n - follower.at) ||
	    !jvm_code->read(jvm_code->arg, address - follower.at, byte, follower.n))
		return 0;
	javaframe_follow(&follower);
	return follower.done && follower.sp - sp <= SPILLED_MAX ? (uint32_t)(follower.sp - sp) : 0;
}

/* ---- exception stub and adapters --------------------------------------------------------------------------------- */

static bool javaframe_has_bytes(const uint8_t *byte, size_t n, size_t at, const char *what, size_t length)
{
	return at + length <= n && memcmp(byte + at, what, length) == 0;
}

#define HAS(at, what) javaframe_has_bytes(byte, n, at, what, sizeof(what) - 1)

enum javaframe_exception javaframe_exception(const struct javaunwind_code *jvm_code, const struct code_blob *blob,
					     uint64_t address)
{
	static const char begin[] = X86_PUSH_RDX X86_SUB_RSP_8 "\x08" X86_MOV_AT_RSP_RBP;
	static const char end[] = X86_MOV_RBP_AT_RSP X86_ADD_RSP_8 "\x08" X86_POP_RDX;
	uint8_t byte[PROLOGUE_MAX];
	size_t n = blob->end - blob->start < PROLOGUE_MAX ? (size_t)(blob->end - blob->start) : PROLOGUE_MAX,
	       at = (size_t)(address - blob->start);

	if (!jvm_code->read(jvm_code->arg, blob->start, byte, n) || !HAS(0, begin))
		return JAVAFRAME_EXCEPTION_NOT;
	if (at == 0)
		return JAVAFRAME_EXCEPTION_IN_RDX;
	if (at == 1)
		return JAVAFRAME_EXCEPTION_AT_SP;
	if (at < sizeof(begin) - 1)
		return JAVAFRAME_EXCEPTION_AFTER;
	for (size_t i = sizeof(begin) - 1; i < at; i++) {
		if (!HAS(i, end))
			continue;
		if (at >= i + 9)
			return JAVAFRAME_EXCEPTION_IN_RDX;
		return at == i + 8 ? JAVAFRAME_EXCEPTION_AT_SP : JAVAFRAME_EXCEPTION_AFTER;
	}
	return JAVAFRAME_EXCEPTION_COMPLETE;
}

/* Returns true if the adapter has stored the return address from rax in its new slot, between offset `from` and the
 * address. */
static bool is_stored(const uint8_t *byte, size_t n, size_t from)
{
	for (size_t i = from; i < n; i++)
		if (HAS(i, X86_MOV_AT_RSP_RAX) ||
		    (byte[i] == X86_OP_PUSH_RAX &&
		     (HAS(i - 4, X86_SUB_RSP_8) || (i >= 7 && HAS(i - 7, X86_SUB_RSP_32)))))
			return true;
	return false;
}

enum javaframe_adapter javaframe_adapter(const struct javaunwind_code *jvm_code, const struct code_blob *blob,
					 uint64_t address)
{
	enum { ADAPTER_MAX = 1024 };
	uint8_t byte[ADAPTER_MAX];
	size_t n = (size_t)(address - blob->start);

	if (n == 0 || n > sizeof(byte) || !jvm_code->read(jvm_code->arg, blob->start, byte, n))
		return JAVAFRAME_AT_SP;
	for (size_t i = n; i-- > 0;) {
		if (HAS(i, X86_MOV_RSP_R13))
			return byte[n - 1] == X86_OP_POP_RAX ? JAVAFRAME_IN_RAX : JAVAFRAME_AT_SP;
		if (HAS(i, X86_MOV_R13_RSP X86_MOV_RAX_AT_RSP))
			return JAVAFRAME_AT_R13;
		if (HAS(i, X86_POP_RAX X86_MOV_R13_RSP))
			return is_stored(byte, n, i + 4) ? JAVAFRAME_AT_SP_SENDER : JAVAFRAME_IN_RAX_SENDER;
		if (HAS(i, X86_LEA_R13_RSP_PLUS_8 X86_POP_RAX))
			return is_stored(byte, n, i + 6) ? JAVAFRAME_AT_SP_SENDER : JAVAFRAME_IN_RAX_SENDER;
		if (HAS(i, X86_MOV_R11_RSP X86_POP_RAX)) /* sequence mov r11, rsp; pop rax; and rsp, -16; push rax */
			return is_stored(byte, n, i + 4) || n - i > 13 ? JAVAFRAME_AT_SP : JAVAFRAME_IN_RAX;
	}
	return JAVAFRAME_AT_SP;
}

/* ---- the interpreter --------------------------------------------------------------------------------------------- */

/* DWARF register numbers, indexed by the register's number in x86 instructions. */
static const uint8_t dwarf[16] = { 0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15 };

static uint8_t byte_of(const struct window *window, int at)
{
	return at >= window->from && at < window->to ? window->byte[at - window->from] : 0;
}

/* Returns the length in bytes of pop A at offset `at`; 0 if there is none. Sets *reg to the DWARF number of register
 * A. */
static int pop_bytes(const struct window *window, int at, uint8_t *reg)
{
	bool high = byte_of(window, at) == X86_OP_REX_B;
	uint8_t b = byte_of(window, at + high);

	*reg = dwarf[(b & 7) | high << 3];
	return x86_opcode(b) == X86_OP_POP ? 1 + high : 0;
}

/* Matches mov rsp, B. Sets *reg to the DWARF number of register B. */
static bool is_return_sp(const struct window *window, int at, uint8_t *reg)
{
	const uint8_t code[3] = { byte_of(window, at), byte_of(window, at + 1), byte_of(window, at + 2) };
	int number = x86_mov_rsp_from(code);

	*reg = number < 0 ? 0 : dwarf[number];
	return number >= 0;
}

/* Returns true if leave precedes offset `at`. In JDK 25, mov byte [r15 + N], 0 is between leave and `at`. */
static bool after_interpreted(const struct window *window, int at)
{
	return AT(window, at - 1, X86_LEAVE) ||
	       (AT(window, at - 9, X86_LEAVE X86_MOV_R15_BYTE_32) && AT(window, at - 1, "\0"));
}

bool javaframe_exit(const struct javaunwind_code *jvm_code, const struct code_blob *blob, uint64_t address,
		    struct javaframe_exit *exit)
{
	/* Possible distances in bytes from pop A of the exit sequence (javaframe.h) to the interrupted address. The
	 * sequence is [mov byte]; pop A; mov rsp, B; [cmp rsp, [r15 + N]; jb]; jmp A. Only JDK 25 has the
	 * instructions in brackets. */
	static const int before[] = { -8, 0, 1, 2, 4, 5, 11, 12, 13, 14 };
	/* Math intrinsics have no frame, so no leave precedes the pop. */
	bool math = blob->kind == BLOB_ENTRY && blob->method_entry.push_rax == BLOB_NEVER;
	struct window window;

	if (!javaframe_open_window(&window, jvm_code, blob, address))
		return false;
	for (size_t i = 0; i < countof(before); i++) {
		int at = -before[i], got = pop_bytes(&window, at, &exit->ra), after = before[i] - got;

		if (got == 0 || (!math && !after_interpreted(&window, at)) ||
		    !is_return_sp(&window, at + got, &exit->sender))
			continue;
		exit->popped = before[i] > 0;
		return before[i] == 0 || after == 0 || after == 3 ||
		       (before[i] < 0 ? AT(&window, -1, X86_LEAVE) :
					(after == 10 || after == 12) && poll_bytes(&window, at + got + 3) == 7);
	}
	return false;
}
