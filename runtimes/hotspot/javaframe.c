/* SPDX-License-Identifier: Apache-2.0 */
#include "runtimes/hotspot/javaframe.h"

enum { AFTER = 32, AHEAD = 24, PROLOGUE_MAX = 256, RET = 0xc3 };

/* Code bytes around an address, clipped to the blob. Bytes outside match no pattern. */
struct window {
	uint8_t byte[AFTER + AHEAD];
	int from, to; /* range of the clipped bytes, relative to the address */
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

static bool javaframe_bytes_at(const struct window *window, int at, const uint8_t *byte, int got)
{
	return at >= window->from && at + got <= window->to &&
	       memcmp(window->byte + (at - window->from), byte, (size_t)got) == 0;
}

#define AT(w, at, ...) \
	javaframe_bytes_at(w, at, (const uint8_t[]){ __VA_ARGS__ }, (int)sizeof((const uint8_t[]){ __VA_ARGS__ }))

/* mov rbp, rsp */
static bool is_mov(const struct window *window, int at)
{
	return AT(window, at, 0x48, 0x8b, 0xec);
}

/* sub rsp, N */
static bool is_sub(const struct window *window, int at)
{
	return AT(window, at, 0x48, 0x83, 0xec) || AT(window, at, 0x48, 0x81, 0xec);
}

/* Returns true if `at` follows add rsp, N. */
static bool after_add(const struct window *window, int at)
{
	return AT(window, at - 4, 0x48, 0x83, 0xc4) || AT(window, at - 7, 0x48, 0x81, 0xc4);
}

/* Returns the length of the safepoint poll cmp rsp, [r15 + N], or 0 if there is none. */
static int poll_bytes(const struct window *window, int at)
{
	if (AT(window, at, 0x49, 0x3b, 0x67))
		return 4;
	return AT(window, at, 0x49, 0x3b, 0xa7) ? 7 : 0;
}

/* Returns true if `at` follows a pop rbp that ends a frame. */
static bool after_pop(const struct window *window, int at)
{
	return AT(window, at - 1, 0x5d) && after_add(window, at - 1);
}

/* Returns true if the address is between pop rbp and ret, in the return poll. The first pattern is of JDK 17 and
 * later. */
static bool in_return_poll(const struct window *window)
{
	/* After pop rbp any code may follow: a poll, ret, or a jump to an exception handler. */
	if (after_pop(window, 0))
		return true;
	if (AT(window, 0, 0x0f, 0x87))
		/* ja, after cmp rsp, [r15 + N] */
		return (poll_bytes(window, -7) == 7 && AT(window, -8, 0x5d)) ||
		       (poll_bytes(window, -4) == 4 && AT(window, -5, 0x5d));
	if (AT(window, 0, 0x41, 0x85, 0x02))
		/* test [r10], eax after mov r10, [r15 + N] */
		return (AT(window, -7, 0x4d, 0x8b, 0x97) && AT(window, -8, 0x5d)) ||
		       (AT(window, -4, 0x4d, 0x8b, 0x57) && AT(window, -5, 0x5d));
	/* The slow path of the poll is out of line: lea r10, [poll]; mov [r15 + N], r10; jmp handler. */
	return (AT(window, 0, 0x4c, 0x8d, 0x15) && AT(window, 7, 0x4d, 0x89, 0x97)) ||
	       (AT(window, -7, 0x4c, 0x8d, 0x15) && AT(window, 0, 0x4d, 0x89, 0x97)) ||
	       (AT(window, -14, 0x4c, 0x8d, 0x15) && AT(window, -7, 0x4d, 0x89, 0x97) && AT(window, 0, 0xe9));
}

/* Returns true if the code at the address may follow leave: ret or vzeroupper; in native wrappers a check for a
 * pending exception or a poll, too. */
static bool may_follow_leave(const struct window *window)
{
	return AT(window, 0, 0xc3) || AT(window, 0, 0xc5, 0xf8, 0x77) || AT(window, 0, 0x49, 0x83, 0x7f) ||
	       AT(window, 0, 0x49, 0x83, 0xbf) || poll_bytes(window, 0) || AT(window, 0, 0x85, 0x05) ||
	       AT(window, 0, 0x4d, 0x8b, 0x57) || AT(window, 0, 0x4d, 0x8b, 0x97);
}

/* Returns true if the address is between leave and ret. Native wrappers check for a pending exception there: cmp
 * [r15 + N], 0; jne. Many other instructions end with the byte of leave, so the bytes after it are checked, too. */
static bool after_leave(const struct window *window)
{
	if (AT(window, -1, 0xc9) && may_follow_leave(window))
		return true;
	if (AT(window, 0, 0x0f, 0x85))
		return (AT(window, -5, 0x49, 0x83, 0x7f) && AT(window, -6, 0xc9)) ||
		       (AT(window, -8, 0x49, 0x83, 0xbf) && AT(window, -9, 0xc9));
	return false;
}

/* ---- prologues --------------------------------------------------------------------------------------------------- */

/* Returns `at` if push rbp of a prologue is there, otherwise -1. */
static int find_push(const struct window *window, int at)
{
	return AT(window, at,
		  0x55) && (is_mov(window, at + 1) || is_sub(window, at + 1) || AT(window, at - 7, 0x89, 0x84, 0x24)) ?
		       at :
		       -1;
}

/* Matches mov [rsp + N], rbp: C2 saves rbp so in frames that need no stack bang (check of the stack's end). */
static bool is_save(const struct window *window, int at)
{
	return AT(window, at, 0x48, 0x89, 0x6c, 0x24) || AT(window, at, 0x48, 0x89, 0xac, 0x24) ||
	       AT(window, at, 0x48, 0x89, 0x2c, 0x24);
}

/* Matches prologue patterns around the address anywhere in the blob: methods with an on-stack-replacement entry in
 * the middle of a loop have a second prologue. */
static enum javaframe javaframe_around(const struct window *window)
{
	if (find_push(window, 0) == 0)
		return JAVAFRAME_NONE;
	if (AT(window, -1, 0x55) && (is_mov(window, 0) || is_sub(window, 0)))
		return JAVAFRAME_RBP;
	if (AT(window, -4, 0x55, 0x48, 0x8b, 0xec) && is_sub(window, 0))
		return JAVAFRAME_RBP;
	if (is_sub(window, 0) && (is_save(window, 4) || is_save(window, 7)))
		return JAVAFRAME_NONE;
	if (is_save(window, 0) && (AT(window, -4, 0x48, 0x83, 0xec) || AT(window, -7, 0x48, 0x81, 0xec)))
		return JAVAFRAME_UNSAVED;
	return JAVAFRAME_COMPLETE;
}

/* Returns true if offset `at`, between the entry and the end of the prologue, is before the push of rbp. */
static bool before_push(const struct javaunwind_code *jvm_code, const struct code_blob *blob, uint32_t at)
{
	uint8_t byte[PROLOGUE_MAX];
	uint32_t n = blob->nmethod.complete - blob->nmethod.entry, push;

	if (n > PROLOGUE_MAX || n < 4 || !jvm_code->read(jvm_code->arg, blob->start + blob->nmethod.entry, byte, n))
		return false;
	at -= blob->nmethod.entry;
	for (push = 0; push + 4 <= n; push++) {
		const uint8_t *b = byte + push;
		bool sub = b[0] == 0x48 && (b[1] == 0x83 || b[1] == 0x81) && b[2] == 0xec;

		if (sub ||
		    (b[0] == 0x55 && b[1] == 0x48 && (b[2] == 0x8b || b[2] == 0x83 || b[2] == 0x81) && b[3] == 0xec))
			return at <= push;
		if (b[0] == 0x55 && push >= 7 && b[-7] == 0x89 && b[-6] == 0x84 && b[-5] == 0x24)
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
	if (AT(&window, 0, 0xc3))
		return JAVAFRAME_NONE;
	if (AT(&window, 0, 0x5d) && after_add(&window, 0))
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
	if (javaframe_open_window(&window, jvm_code, blob, address) && (AT(&window, 0, 0xc3) || after_leave(&window)))
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

		if (memcmp(byte + i, "\x48\x83\xe4", 3) != 0) /* and rsp */
			continue;
		if (memcmp(byte + at, "\x48\x89\x44\x24", 4) == 0) /* mov [rsp + A], rax */
			at += MOV;
		if (at + MOV > n || memcmp(byte + at, "\x48\x89\x6c\x24", 4) != 0)
			return 0;
		return address - begin >= at + MOV ? byte[at + 4] : 0;
	}
	return 0;
}

/* ---- stubs without a frame --------------------------------------------------------------------------------------- */

/* Skips a push (base 0x50) or a pop (base 0x58) of a register at byte[*at], with or without REX prefix. Returns
 * false if there is none. */
static bool moves_word(const uint8_t *byte, uint32_t n, uint32_t *at, uint8_t base)
{
	uint32_t i = *at + (*at < n && byte[*at] == 0x41);

	if (i >= n || (byte[i] & 0xf8) != base)
		return false;
	*at = i + 1;
	return true;
}

/* sub rsp, N */
static bool makes_space(const uint8_t *b)
{
	return memcmp(b, "\x48\x83\xec", 3) == 0 && b[3] < 0x80;
}

/* Matches add rsp, N, or lea rsp, [rsp + N], which preserves the flags. */
static bool frees_space(const uint8_t *b)
{
	return (memcmp(b, "\x48\x83\xc4", 3) == 0 && b[3] < 0x80) || memcmp(b, "\x48\x8d\x64\x24", 4) == 0;
}

/* Returns true if the stack space is freed before the next ret. */
static bool is_freed(const uint8_t *byte, uint32_t n, uint32_t at)
{
	while (at + 5 <= n && byte[at] != RET && !frees_space(byte + at))
		at++;
	return at + 5 <= n && byte[at] != RET;
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
		/* At the end of the stub only pops and ret follow. */
		for (at = (uint32_t)where, words = 0; moves_word(byte, n, &at, 0x58); words++)
			;
		if (at < n && byte[at] == RET)
			return 8 * words;
	}
	for (at = 0, words = 0; at < where && moves_word(byte, n, &at, 0x50); words++)
		;
	for (; words && at + 5 <= n && at < where; at++) {
		if (makes_space(byte + at))
			space = *more = byte[at + 3];
		else if (frees_space(byte + at))
			*more = 0;
		else if (byte[at] == RET || byte[at] == 0xe9 || byte[at] == 0xeb)
			/* Control flow does not pass here: a jump from before leads to the code after it. */
			*more = is_freed(byte, n, at + 1) ? space : 0;
	}
	return 8 * words;
}

uint32_t javaframe_aligned(const struct javaunwind_code *jvm_code, uint64_t address)
{
	uint8_t byte[4];

	/* add rsp, 8 */
	return jvm_code->read(jvm_code->arg, address, byte, 4) && memcmp(byte, "\x48\x83\xc4\x08", 4) == 0 ? 8 : 0;
}

uint32_t javaframe_arguments(const struct javaunwind_code *jvm_code, uint64_t address)
{
	enum { POP_RAX = 0x58, POP_RBP = 0x5d };
	uint8_t byte[5];

	/* C1's barriers of ZGC pop arguments by add rsp, 16. If pop rbp follows, the add ends the frame instead. */
	if (!jvm_code->read(jvm_code->arg, address, byte, sizeof(byte)) || memcmp(byte, "\x48\x83\xc4\x10", 4) != 0 ||
	    byte[4] == POP_RBP)
		return 0;
	return byte[4] == POP_RAX ? 24 : 16;
}

/* ---- registers spilled for a call -------------------------------------------------------------------------------- */

enum { SPILL_CODE_MAX = 640, SPACE_MAX = 1024, SPILLED_MAX = 4096, LONGEST = 11, SIB_OF_RSP = 0x24 };

/* MacroAssembler::popa: mov R, [rsp + N] of all registers but rsp. add rsp, 128 then frees the space. */
static const uint8_t refills[] = {
	0x4c, 0x8b, 0x3c, 0x24, 0x4c, 0x8b, 0x74, 0x24, 0x08, 0x4c, 0x8b, 0x6c, 0x24, 0x10, 0x4c,
	0x8b, 0x64, 0x24, 0x18, 0x4c, 0x8b, 0x5c, 0x24, 0x20, 0x4c, 0x8b, 0x54, 0x24, 0x28, 0x4c,
	0x8b, 0x4c, 0x24, 0x30, 0x4c, 0x8b, 0x44, 0x24, 0x38, 0x48, 0x8b, 0x7c, 0x24, 0x40, 0x48,
	0x8b, 0x74, 0x24, 0x48, 0x48, 0x8b, 0x6c, 0x24, 0x50, 0x48, 0x8b, 0x5c, 0x24, 0x60, 0x48,
	0x8b, 0x54, 0x24, 0x68, 0x48, 0x8b, 0x4c, 0x24, 0x70, 0x48, 0x8b, 0x44, 0x24, 0x78,
};

/* Code that is followed in straight line from an interrupted address or a return address. */
struct follow {
	const uint8_t *byte;
	uint32_t n, at;
	uint64_t sp;  /* value of rsp at offset `at` */
	bool aligned; /* result of the last test of rsp's alignment */
	bool done;    /* all registers are restored, or the return address is at sp */
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

/* Returns the bytes of the operand [rsp + N] at `ahead`, or 0 if the operand has another form. */
static uint32_t operand_bytes(const struct follow *follower, uint32_t ahead)
{
	static const uint8_t bytes[4] = { 2, 3, 6, 0 };
	uint8_t modrm = follow_byte(follower, ahead);

	return (modrm & 7) == 4 && follow_byte(follower, ahead + 1) == SIB_OF_RSP ? bytes[modrm >> 6] : 0;
}

/* Returns the bytes before the operand of a move between memory and a register, or 0 if the instruction is no move.
 * *after is the number of bytes after the operand. */
static uint32_t move_bytes(const struct follow *follower, uint32_t *after)
{
	uint8_t b = follow_byte(follower, 0), second = follow_byte(follower, 1);
	uint32_t rex = (second & 0xf0) == 0x40;

	*after = 0;
	switch (b) {
	case 0x48: /* General registers, stored to the stack or loaded from it, but not into rsp. */
	case 0x4c:
		return second == 0x89 || (second == 0x8b && (b == 0x4c || (follow_byte(follower, 2) & 0x38) != 0x20)) ?
			       2 :
			       0;
	case 0xdd: /* x87 */ return 1;
	case 0xc5: /* xmm, ymm */ return 3;
	case 0xc4:
		*after = (second & 0x1f) == 3; /* vinsertf128, vextractf128 */
		return 4;
	case 0xf2:
	case 0xf3:
	case 0x66: return follow_byte(follower, 1 + rex) == 0x0f ? 3 + rex : 0;
	default: return 0;
	}
}

static bool follow_move(struct follow *follower)
{
	uint32_t after, front = move_bytes(follower, &after), operand = front ? operand_bytes(follower, front) : 0;

	follower->at += operand ? front + operand + after : 0;
	return operand != 0;
}

/* Follows add rsp, N and sub rsp, N. */
static bool follow_space(struct follow *follower)
{
	bool wide = follow_byte(follower, 1) == 0x81, frees = follow_byte(follower, 2) == 0xc4;
	uint32_t n = 0;

	if (follow_byte(follower, 0) != 0x48 || (!wide && follow_byte(follower, 1) != 0x83) ||
	    (!frees && follow_byte(follower, 2) != 0xec))
		return false;
	for (uint32_t i = 0; i < (wide ? 4 : 1); i++)
		n |= (uint32_t)follow_byte(follower, 3 + i) << 8 * i;
	if (n == 0 || n > SPACE_MAX || n % 8)
		return false;
	follower->done = frees && n == 128 && follower->at >= sizeof(refills) &&
			 memcmp(follower->byte + follower->at - sizeof(refills), refills, sizeof(refills)) == 0;
	follower->sp += frees ? n : -(uint64_t)n;
	follower->at += wide ? 7 : 4;
	return true;
}

/* Follows a call that is emitted twice, with and without alignment of the stack. A call is stepped over, as if the
 * callee had returned. */
static bool follow_call(struct follow *follower)
{
	uint32_t away;

	if (FOLLOW_IS(follower, "\xf7\xc4\x0f\x00\x00\x00")) { /* test esp, 15 */
		follower->aligned = follower->sp % 16 == 0;
		follower->at += 6;
	} else if (FOLLOW_IS(follower, "\x0f\x84") && follow_byte(follower, 3) == 0) {
		/* je: jumps over the first call */
		away = follow_byte(follower, 2);
		follower->at += 6 + (follower->aligned ? away : 0);
	} else if (FOLLOW_IS(follower, "\xe9\x05\x00\x00\x00\xe8")) {
		/* jmp: jumps over the second call */
		follower->at += 10;
	} else if (FOLLOW_IS(follower, "\xe8")) {
		follower->at += 5;
	} else {
		return false;
	}
	return true;
}

/* Matches pop rax; mov rsp, r13: the end of the interpreter's entries of math intrinsics. */
static bool is_at_return(const struct follow *follower)
{
	return FOLLOW_IS(follower, "\x58\x49\x8b\xe5");
}

static void javaframe_follow(struct follow *follower)
{
	while (!follower->done && follower->at < follower->n &&
	       (follow_space(follower) || follow_move(follower) || follow_call(follower)))
		;
	follower->done = follower->done || is_at_return(follower);
}

/* Rules out most code by its next AHEAD bytes, which were read already for the frame state. Returns true if longer
 * code may restore spilled registers. */
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
	uint8_t byte[sizeof(refills) + SPILL_CODE_MAX];
	uint64_t after = address - blob->start, ahead = blob->end - address;
	struct follow follower = { .byte = byte, .sp = sp };

	if (address < blob->start || address >= blob->end)
		return 0;
	follower.at = after < sizeof(refills) ? (uint32_t)after : (uint32_t)sizeof(refills);
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
	static const char begin[] = "\x52\x48\x83\xec\x08\x48\x89\x2c\x24"; /* push rdx; sub rsp, 8; mov [rsp], rbp */
	static const char end[] = "\x48\x8b\x2c\x24\x48\x83\xc4\x08\x5a";   /* mov rbp, [rsp]; add rsp, 8; pop rdx */
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

/* Returns true if the adapter has stored the return address, popped into rax, in its new slot before the address. */
static bool is_stored(const uint8_t *byte, size_t n, size_t from)
{
	for (size_t i = from; i < n; i++)
		if (HAS(i, "\x48\x89\x04\x24") ||
		    (byte[i] == 0x50 && (HAS(i - 4, "\x48\x83\xec") || (i >= 7 && HAS(i - 7, "\x48\x81\xec")))))
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
		if (HAS(i, "\x49\x8b\xe5")) /* mov rsp, r13 */
			return byte[n - 1] == 0x58 ? JAVAFRAME_IN_RAX : JAVAFRAME_AT_SP;
		if (HAS(i, "\x4c\x8b\xec\x48\x8b\x04\x24")) /* mov r13, rsp; mov rax, [rsp] */
			return JAVAFRAME_AT_R13;
		if (HAS(i, "\x58\x4c\x8b\xec")) /* pop rax; mov r13, rsp */
			return is_stored(byte, n, i + 4) ? JAVAFRAME_AT_SP_SENDER : JAVAFRAME_IN_RAX_SENDER;
		if (HAS(i, "\x4c\x8d\x6c\x24\x08\x58")) /* lea r13, [rsp + 8]; pop rax */
			return is_stored(byte, n, i + 6) ? JAVAFRAME_AT_SP_SENDER : JAVAFRAME_IN_RAX_SENDER;
		if (HAS(i, "\x4c\x8b\xdc\x58")) /* mov r11, rsp; pop rax; and rsp, -16; push rax */
			return is_stored(byte, n, i + 4) || n - i > 13 ? JAVAFRAME_AT_SP : JAVAFRAME_IN_RAX;
	}
	return JAVAFRAME_AT_SP;
}

/* ---- the interpreter --------------------------------------------------------------------------------------------- */

/* DWARF number of each register, by its number in x86 instructions. */
static const uint8_t dwarf[16] = { 0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15 };

static uint8_t byte_of(const struct window *window, int at)
{
	return at >= window->from && at < window->to ? window->byte[at - window->from] : 0;
}

/* Returns the length of pop A at `at`, or 0 if there is none. *reg is the DWARF number of A. */
static int pop_bytes(const struct window *window, int at, uint8_t *reg)
{
	bool high = byte_of(window, at) == 0x41;
	uint8_t b = byte_of(window, at + high);

	*reg = dwarf[(b & 7) | high << 3];
	return (b & 0xf8) == 0x58 ? 1 + high : 0;
}

/* Matches mov rsp, B. *reg is the DWARF number of B. */
static bool is_return_sp(const struct window *window, int at, uint8_t *reg)
{
	uint8_t prefix = byte_of(window, at), b = byte_of(window, at + 2);

	*reg = dwarf[(b & 7) | (prefix & 1) << 3];
	return (prefix == 0x48 || prefix == 0x49) && byte_of(window, at + 1) == 0x8b && (b & 0xf8) == 0xe0;
}

/* Returns true if `at` follows leave. In JDK 25, mov byte [r15 + N], 0 is in between. */
static bool after_interpreted(const struct window *window, int at)
{
	return AT(window, at - 1, 0xc9) || (AT(window, at - 9, 0xc9, 0x41, 0xc6, 0x87) && AT(window, at - 1, 0));
}

bool javaframe_exit(const struct javaunwind_code *jvm_code, const struct code_blob *blob, uint64_t address,
		    struct javaframe_exit *exit)
{
	/* Offsets of the interrupted address from pop A. The instructions are (JDK 25: mov byte); pop; mov rsp; (JDK
	 * 25: cmp rsp, [r15 + N]; jb); jmp. */
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
		       (before[i] < 0 ? AT(&window, -1, 0xc9) :
					(after == 10 || after == 12) && poll_bytes(&window, at + got + 3) == 7);
	}
	return false;
}
