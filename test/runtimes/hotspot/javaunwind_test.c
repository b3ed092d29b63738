/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of a JVM laid out by hand: each state of a prologue and an epilogue, adapters, the interpreter, stubs, virtual
 * threads. */
/* covers: runtimes/hotspot/javaunwind.c runtimes/hotspot/javaframe.c */
#include "runtimes/hotspot/javaunwind.h"
#include "test/lib/tap.h"

enum {
	CODE = 0x10000,
	NATIVE = 0x900000,
	STACK = 0x700000,
	CALL_STUB_RETURN = CODE + 0x4010,
	METHOD = 0x555550,
	WORDS = 64
};

static uint8_t code[0x8000];
static uint64_t stack[WORDS];
static struct code_blob blob[] = {
	{ .start = CODE,
	  .end = CODE + 0x100,
	  .frame = 0x30,
	  .nmethod = { .entry = 0x10, .complete = 0x1c, .orig_pc = 8 },
	  .kind = BLOB_COMPILED,
	  .deopt = { CODE + 0xf0 } },
	{ .start = CODE + 0x1000,
	  .end = CODE + 0x1100,
	  .frame = 0x20,
	  .nmethod.complete = 0x10,
	  .kind = BLOB_COMPILED },
	{ .start = CODE + 0x2000, .end = CODE + 0x2100, .kind = BLOB_ENTRY, .method_entry = { 8, 16 } },
	{ .start = CODE + 0x3000, .end = CODE + 0x3100, .kind = BLOB_BYTECODE },
	{ .start = CODE + 0x4000, .end = CODE + 0x4100, .kind = BLOB_STUB },
	{ .start = CODE + 0x5000, .end = CODE + 0x5100, .kind = BLOB_ADAPTER },
	{ .start = CODE + 0x6000, .end = CODE + 0x6010, .kind = BLOB_LEAF },
	{ .start = CODE + 0x6010, .end = CODE + 0x6100, .kind = BLOB_THAW },
	{ .start = CODE + 0x7000, .end = CODE + 0x7100, .frame = 0x50, .kind = BLOB_NATIVE, .offset[1] = BLOB_NEVER },
	{ .start = CODE + 0x7800, .end = CODE + 0x7900, .frame = 0x10, .kind = BLOB_PUSHED, .offset[1] = BLOB_NEVER },
	{ .start = CODE + 0x7900, .end = CODE + 0x7a00, .kind = BLOB_LEAF, .offset[1] = BLOB_NEVER },
	{ .start = CODE + 0x7a00, .end = CODE + 0x7f00, .frame = 0x20, .kind = BLOB_COMPILED, .offset[1] = BLOB_NEVER },
	{ .start = CODE + 0x7f00, .end = CODE + 0x8000, .kind = BLOB_ENTRY, .offset[1] = BLOB_NEVER },
};

static bool read_code(void *arg, uint64_t at, void *to, size_t n)
{
	(void)arg;
	if (at < CODE || at - CODE + n > sizeof(code))
		return false;
	memcpy(to, code + (at - CODE), n);
	return true;
}

static bool is_code(void *arg, uint64_t at)
{
	(void)arg;
	return at - NATIVE < 0x1000;
}

static const struct javaunwind_code jvm = { blob, countof(blob), CALL_STUB_RETURN, CODE + 0x7020, read_code, is_code,
					    NULL, NULL };

static void put(uint64_t at, const char *bytes, size_t n)
{
	memcpy(code + (at - CODE), bytes, n);
}

#define PUT(at, bytes) put(at, bytes, sizeof(bytes) - 1)

static struct unwind_state at(uint64_t ip, unsigned word, uint64_t bp, bool interrupted)
{
	struct unwind_state s = { .ip = ip,
				  .sp = STACK + 8 * word,
				  .bp = bp,
				  .valid = 0xffff,
				  .stack = { (char *)stack, sizeof(stack) },
				  .stack_start = STACK,
				  .interrupted = interrupted,
				  .native = true,
				  .effort = 20000 };

	s.reg[7] = s.sp;
	s.reg[6] = bp;
	return s;
}

/* One step from state leads to the caller ip, with its sp at that word, and its rbp. */
static void leads(const char *name, struct unwind_state state, uint64_t ip, unsigned word, uint64_t bp)
{
	const struct code_blob *p = javaunwind_find(&jvm, &state);
	struct javaunwind_frame f;
	enum unwind_end end = p ? javaunwind_step(&state, &jvm, p, &f) : UNWIND_ROOT;
	bool good = end == UNWIND_MORE && state.ip == ip && state.sp == STACK + 8 * word && state.bp == bp &&
		    !state.interrupted;

	ok(good, name);
	if (!good)
		printf("# end %d ip %lx word %ld bp %lx\n", end, (long)state.ip, ((long)state.sp - STACK) / 8,
		       (long)state.bp);
}

static enum unwind_end ends(struct unwind_state state, struct javaunwind_frame *frame)
{
	return javaunwind_step(&state, &jvm, javaunwind_find(&jvm, &state), frame);
}

enum { CALLER = CODE + 0x1050, BP = 0x1234 };

static void compiled(void)
{
	/* class check; push rbp; mov rbp, rsp (kept by some); sub rsp, 0x20; ...; add rsp, 0x20; pop rbp; cmp rsp, [r15
	 * + 0x28]; ja; ret */
	PUT(CODE + 0x10, "\x89\x84\x24\x00\xc0\xfe\xff\x55\x48\x83\xec\x20");
	PUT(CODE + 0x40, "\x48\x83\xc4\x20\x5d\x49\x3b\x67\x28\x0f\x87\x10\x00\x00\x00\xc3");
	stack[1] = CALLER;
	stack[0] = BP;
	leads("class check", at(CODE + 4, 1, BP, true), CALLER, 2, BP);
	leads("before push", at(CODE + 0x10, 1, BP, true), CALLER, 2, BP);
	leads("at push", at(CODE + 0x17, 1, BP, true), CALLER, 2, BP);
	leads("behind push", at(CODE + 0x18, 0, 1, true), CALLER, 2, BP);
	stack[5] = CALLER;
	stack[4] = 77;
	leads("whole", at(CODE + 0x1c, 0, 1, true), CALLER, 6, 77);
	leads("whole, a caller", at(CODE + 0x30, 0, 1, false), CALLER, 6, 77);
	leads("at add", at(CODE + 0x40, 0, 1, true), CALLER, 6, 77);
	leads("at pop", at(CODE + 0x44, 0, 1, true), CALLER, 2, BP);
	leads("at poll", at(CODE + 0x45, 1, BP, true), CALLER, 2, BP);
	leads("at ja", at(CODE + 0x49, 1, BP, true), CALLER, 2, BP);
	leads("at ret", at(CODE + 0x4f, 1, BP, true), CALLER, 2, BP);
	stack[5] = 3;
	stack[6] = CALLER;
	leads("a word was pushed", at(CODE + 0x60, 0, 1, true), CALLER, 7, 3);
	stack[6] = stack[1] = 0;
}

static void without_bang(void)
{
	PUT(CODE + 0x1000, "\x48\x83\xec\x18\x48\x89\x6c\x24\x10");
	stack[3] = CALLER;
	stack[0] = CALLER + 1;
	stack[2] = 9;
	leads("at sub", at(CODE + 0x1000, 0, BP, true), CALLER + 1, 1, BP);
	leads("rbp not saved yet", at(CODE + 0x1004, 0, BP, true), CALLER, 4, BP);
	leads("saved", at(CODE + 0x1009, 0, BP, true), CALLER, 4, 9);
}

static void deoptimized(void)
{
	struct javaunwind_frame f;

	stack[1] = CODE + 0x33;
	stack[5] = CALLER;
	ok(ends(at(CODE + 0xf0, 0, 0, false), &f) == UNWIND_MORE && f.address == CODE + 0x33 && !f.exact,
	   "deoptimized: named by where it was");
	stack[5] = 5;
	stack[6] = stack[7] = stack[8] = stack[9] = 0;
	ok(ends(at(CODE + 0x30, 0, 0, false), &f) == UNWIND_NO_CODE, "no return address: no guess");
	ok(ends(at(CODE + 0x30, 60, 0, false), &f) == UNWIND_STACK_CUT, "behind the copy of the stack");
}

/* An interpreted frame whose rbp is at a word. */
static void lay_interpreted(unsigned word, uint64_t ip, uint64_t bp, uint64_t sender, uint64_t method)
{
	stack[word] = bp;
	stack[word + 1] = ip;
	stack[word - 1] = sender;
	stack[word - 3] = method;
}

static void interpreted(void)
{
	struct unwind_state s = at(CODE + 0x3010, 0, STACK + 80, true);
	struct javaunwind_frame f;

	lay_interpreted(10, CALLER, BP, STACK + 8 * 20, METHOD);
	leads("interpreted", s, CALLER, 20, BP);
	ok(ends(s, &f) == UNWIND_MORE && f.method && f.exact && f.address == METHOD, "  named by its method");
	stack[7] = 3;
	ok(ends(s, &f) == UNWIND_MORE && !f.method, "  no method, no name");
	stack[9] = STACK;
	ok(ends(s, &f) == UNWIND_NO_CODE, "  the sender's stack is not above: none");
	PUT(CODE + 0x3080, "\xc9\x41\x5d\x48\x8b\xe3\x41\xff\xe5"); /* leave; pop r13; mov rsp, rbx; jmp r13 */
	stack[4] = CALLER;
	s = at(CODE + 0x3081, 4, BP, true);
	s.reg[3] = STACK + 8 * 12;
	leads("leaving, before pop", s, CALLER, 12, BP);
	s = at(CODE + 0x3083, 5, BP, true);
	s.reg[3] = STACK + 8 * 12;
	s.reg[13] = CALLER;
	leads("leaving, behind pop", s, CALLER, 12, BP);
	PUT(CODE + 0x30a0,
	    "\xc9\x41\xc6\x87\xbe\x03\x00\x00\x00\x41\x5d\x48\x8b\xe3\x49\x3b\xa7\x20\x06\x00\x00\x72\x0b\x41\xff\xe5"); /* JDK 25 */
	for (unsigned i = 0; i < 6; i++) {
		static const uint8_t where[] = { 1, 9, 11, 14, 21, 23 };

		s = at(CODE + 0x30a0 + where[i], i < 2 ? 4 : 5, BP, true);
		s.reg[3] = STACK + 8 * 12;
		s.reg[13] = i < 2 ? 0 : CALLER;
		leads("leaving in JDK 25", s, CALLER, 12, BP);
	}
}

static void entered(void)
{
	struct unwind_state s = at(CODE + 0x2004, 4, BP, true);
	struct javaunwind_frame f;

	s.reg[3] = METHOD;
	s.reg[13] = STACK + 8 * 9;
	s.reg[0] = CALLER + 2;
	stack[4] = CALLER;
	stack[5] = CALLER + 3;
	leads("entry, before pop rax", s, CALLER, 9, BP);
	ok(ends(s, &f) == UNWIND_MORE && f.method && f.address == METHOD, "  named by rbx");
	s.ip = CODE + 0x200c;
	leads("entry, return address in rax", s, CALLER + 2, 9, BP);
	s.ip = CODE + 0x2011;
	leads("entry, behind push rax", s, CALLER, 9, BP);
	s.ip = CODE + 0x2012;
	leads("entry, behind push rbp", s, CALLER + 3, 9, BP);
	lay_interpreted(10, CALLER, BP, STACK + 8 * 20, METHOD);
	s = at(CODE + 0x2015, 10, STACK + 80, true);
	s.reg[3] = METHOD + 8;
	s.reg[13] = STACK + 8 * 22;
	leads("entry, frame without slots yet", s, CALLER, 22, BP);
	s.interrupted = false;
	leads("entry, as a caller", s, CALLER, 20, BP);
}

static void stubs(void)
{
	struct unwind_state s = at(CALL_STUB_RETURN, 4, STACK + 8 * 30, false);
	struct javaunwind_frame f;

	stack[30] = BP;
	stack[31] = NATIVE + 8;
	stack[23] = 42; /* rbx */
	stack[19] = 43; /* r15 */
	leads("call stub", s, NATIVE + 8, 32, BP);
	javaunwind_step(&s, &jvm, javaunwind_find(&jvm, &s), &f);
	ok(s.reg[3] == 42 && s.reg[15] == 43 && s.valid >> 15 & 1, "  registers of native code come back");
	PUT(CODE + 0x4000, "\x55\x48\x8b\xec");
	PUT(CODE + 0x4050, "\xc9\xc3");
	stack[1] = CALLER;
	stack[0] = BP;
	leads("stub, at push", at(CODE + 0x4000, 1, BP, true), CALLER, 2, BP);
	leads("stub, behind push", at(CODE + 0x4001, 0, BP, true), CALLER, 2, BP);
	leads("stub, in it", at(CODE + 0x4030, 0, STACK + 8 * 30, true), NATIVE + 8, 32, BP);
	leads("stub, at ret", at(CODE + 0x4051, 1, BP, true), CALLER, 2, BP);
	PUT(CODE + 0x4060, "\x01\xc9\x90"); /* add ecx, ecx: no leave */
	leads("stub, behind the byte of leave", at(CODE + 0x4062, 0, STACK + 8 * 30, true), NATIVE + 8, 32, BP);
	/* push rdx; push rcx; mov rax, rsp; sub rsp, 0x70; and rsp, -32; mov [rsp + 0x38], rax; mov [rsp + 0x40], rbp
	 */
	PUT(CODE + 0x4004,
	    "\x52\x51\x48\x8b\xc4\x48\x83\xec\x70\x48\x83\xe4\xe0\x48\x89\x44\x24\x38\x48\x89\x6c\x24\x40");
	stack[8] = STACK + 8 * 30;
	leads("stub, rbp is on an aligned stack", at(CODE + 0x4030, 0, 0x600000, true), NATIVE + 8, 32, BP);
	leads("  just put there", at(CODE + 0x401b, 0, STACK + 8 * 30, true), NATIVE + 8, 32, BP);
	ok(ends(at(CODE + 0x401a, 0, 0x600000, true), &f) == UNWIND_NO_CODE, "  not yet: no guess");
	stack[8] = 3;
	ok(ends(at(CODE + 0x4030, 0, 0x600000, true), &f) == UNWIND_NO_CODE, "  something else is there: no guess");
	stack[8] = 0;
	PUT(CODE + 0x6000, "\x57\x56\x90\x90\x5e\x5f\xc3");
	stack[3] = CALLER;
	stack[2] = CALLER + 1;
	leads("leaf, two words pushed", at(CODE + 0x6003, 1, BP, true), CALLER, 4, BP);
	leads("leaf, one popped", at(CODE + 0x6005, 1, BP, true), CALLER + 1, 3, BP);
}

/* push rdx; sub rsp, 8; mov [rsp], rbp; ...; mov rbp, [rsp]; add rsp, 8; pop rdx; jmp r8 */
static void exception(void)
{
	struct unwind_state s = at(CODE + 0x7800, 2, BP, true);

	PUT(CODE + 0x7800, "\x52\x48\x83\xec\x08\x48\x89\x2c\x24");
	PUT(CODE + 0x7840, "\x48\x8b\x2c\x24\x48\x83\xc4\x08\x5a\x41\xff\xe0");
	s.reg[1] = CALLER + 3;
	stack[1] = CALLER;
	stack[0] = 5;
	leads("an exception: the return address is in rdx", s, CALLER + 3, 2, BP);
	leads("  pushed", at(CODE + 0x7801, 1, BP, true), CALLER, 2, BP);
	leads("  behind room for rbp", at(CODE + 0x7805, 0, BP, true), CALLER, 2, BP);
	leads("  whole", at(CODE + 0x7809, 0, BP, true), CALLER, 2, 5);
	leads("  that called", at(CODE + 0x7830, 0, BP, false), CALLER, 2, 5);
	leads("  rbp is back", at(CODE + 0x7844, 0, BP, true), CALLER, 2, BP);
	leads("  at pop", at(CODE + 0x7848, 1, BP, true), CALLER, 2, BP);
	s.ip = CODE + 0x7849;
	leads("  in rdx again", s, CALLER + 3, 2, BP);
}

/* push rdi; push rsi; sub rsp, 32; ...; lea rsp, [rsp + 32]; jne; ...; pop; pop; ret; ...; pop; pop; ret */
static void freed_by_lea(void)
{
	PUT(CODE + 0x7900, "\x57\x56\x48\x83\xec\x20\x90\x48\x8d\x64\x24\x20\x75\x04\x90\x5e\x5f\xc3\x90\x5e\x5f\xc3");
	stack[6] = CALLER;
	stack[2] = 1;
	leads("a leaf with room", at(CODE + 0x7906, 0, BP, true), CALLER, 7, BP);
	leads("  that is freed", at(CODE + 0x790c, 4, BP, true), CALLER, 7, BP);
	leads("  on the other way out, too", at(CODE + 0x7912, 4, BP, true), CALLER, 7, BP);
}

/* A stub that was called with arguments on the stack, which its caller takes away. */
static void arguments(void)
{
	PUT(CODE + 0x1070, "\x48\x83\xc4\x10\x58");
	PUT(CODE + 0x1080, "\x48\x83\xc4\x10\x90");
	PUT(CODE + 0x1090, "\x48\x83\xc4\x10\x5d");
	stack[8] = BP;
	stack[9] = CODE + 0x1070;
	leads("arguments and a register are below the caller's frame", at(CODE + 0x4010 + 2, 0, STACK + 64, false),
	      CODE + 0x1070, 13, BP);
	stack[9] = CODE + 0x1080;
	leads("  arguments", at(CODE + 0x4010 + 2, 0, STACK + 64, false), CODE + 0x1080, 12, BP);
	stack[9] = CODE + 0x1090;
	leads("  none: there the frame ends", at(CODE + 0x4010 + 2, 0, STACK + 64, false), CODE + 0x1090, 10, BP);
}

/* Code of JDK 8, C1: behind the call of dsin(), and all registers back. */
#define POPA                                                                                                                           \
	"\x4c\x8b\x3c\x24\x4c\x8b\x74\x24\x08\x4c\x8b\x6c\x24\x10\x4c\x8b\x64\x24\x18\x4c\x8b\x5c\x24\x20\x4c\x8b\x54\x24\x28\x4c\x8b" \
	"\x4c\x24\x30\x4c\x8b\x44\x24\x38\x48\x8b\x7c\x24\x40\x48\x8b\x74\x24\x48\x48\x8b\x6c\x24\x50\x48\x8b\x5c\x24\x60\x48\x8b\x54" \
	"\x24\x68\x48\x8b\x4c\x24\x70\x48\x8b\x44\x24\x78"
#define SPILLED \
	"\xc5\xfb\x11\x04\x24\xdd\x04\x24\x48\x83\xc4\x08\xc5\xfa\x6f\x04\x24\xc5\x7a\x6f\xbc\x24\x90\x00\x00\x00\x48\x83\xc4\x20"

static void spilled(void)
{
	PUT(CODE + 0x7a10,
	    "\x48\x83\xc4\x08\xe9\x05\x00\x00\x00\xe8\x11\x22\x33\x44" SPILLED POPA "\x48\x81\xc4\x80\x00\x00\x00");
	PUT(CODE + 0x7b00,
	    "\xc4\xe3\x75\x18\x4c\x24\x10\x01\xf3\x44\x0f\x6f\x44\x24\x10" POPA "\x48\x81\xc4\x80\x00\x00\x00");
	PUT(CODE + 0x7c00, POPA "\x48\x81\xc4\x88\x00\x00\x00");
	PUT(CODE + 0x7dd0, "\x48\x8b\x44\x24\x78\x48\x81\xc4\x80\x00\x00\x00");
	PUT(CODE + 0x7e00, SPILLED "\x90" POPA "\x48\x81\xc4\x80\x00\x00\x00");
	PUT(CODE + 0x7e80, POPA);
	memset(stack, 0, sizeof(stack));
	stack[1 + 1 + 4 + 16 + 2] = BP;
	stack[1 + 1 + 4 + 16 + 3] = CALLER;
	stack[4] = CALLER; /* one of the registers, where return addresses are otherwise */
	leads("sin() of JDK 8: all registers are on the stack", at(CODE + 0x7a10, 0, 0, false), CALLER,
	      1 + 1 + 4 + 16 + 4, BP);
	leads("  which was aligned", at(CODE + 0x7a1e, 1, 0, false), CALLER, 1 + 1 + 4 + 16 + 4, BP);
	/* the same from its begin: room, a register and xmm0 into it, the argument, a stack that is aligned or not */
	PUT(CODE + 0x7cc0,
	    "\x48\x81\xec\x80\x00\x00\x00\x48\x89\x44\x24\x78\x48\x83\xec\x20\xc5\xfa\x7f\x04\x24\x48\x83\xec\x08\xdd\x1c\x24"
	    "\xc5\xfb\x10\x04\x24\xf7\xc4\x0f\x00\x00\x00\x0f\x84\x12\x00\x00\x00\x48\x83\xec\x08\xe8\x11\x22\x33\x44"
	    "\x48\x83\xc4\x08\xe9\x05\x00\x00\x00\xe8\x11\x22\x33\x44" SPILLED POPA "\x48\x81\xc4\x80\x00\x00\x00");
	for (unsigned shift = 0; shift < 2; shift++) {
		static const struct {
			unsigned at, words; /* of the stack that it has there */
		} place[] = { { 7, 16 }, { 16, 20 }, { 25, 21 }, { 39, 21 }, { 49, 22 }, { 54, 22 } };
		const unsigned frame = 30 + shift;

		memset(stack, 0, sizeof(stack));
		stack[frame + 2] = BP;
		stack[frame + 3] = CALLER;
		for (size_t i = 0; i < countof(place); i++)
			leads(shift ? "  interrupted, with a stack that is aligned" :
				      "  interrupted, with one that is not",
			      at(CODE + 0x7cc0 + place[i].at, frame - place[i].words, 0, true), CALLER, frame + 4, BP);
	}
	memset(stack, 0, sizeof(stack));
	stack[16 + 2] = BP;
	stack[16 + 3] = CALLER;
	leads("  with the upper halves of ymm", at(CODE + 0x7b00, 0, 0, false), CALLER, 16 + 4, BP);
	PUT(CODE + 0x7f10, SPILLED POPA "\x48\x81\xc4\x80\x00\x00\x00");
	stack[1 + 4 + 16] = CALLER;
	leads("  called by the interpreter", at(CODE + 0x7f10, 0, BP, false), CALLER, 1 + 4 + 16 + 1, BP);
	/* ..., fstp [rsp]; vmovsd xmm0, [rsp]; add rsp, 0x10; pop rax; mov rsp, r13; jmp rax */
	PUT(CODE + 0x7fa0, "\xdd\x1c\x24\xc5\xfb\x10\x04\x24\x48\x83\xc4\x10\x58\x49\x8b\xe5\xff\xe0");
	memset(stack, 0, sizeof(stack));
	stack[2] = CALLER;
	for (unsigned i = 0; i < 5; i++) {
		static const struct {
			unsigned at, word;
		} place[] = { { 0, 0 }, { 3, 0 }, { 8, 0 }, { 12, 2 }, { 13, 3 } };
		struct unwind_state s = at(CODE + 0x7fa0 + place[i].at, place[i].word, BP, true);

		s.reg[13] = STACK + 8 * 9;
		s.reg[0] = place[i].at == 13 ? CALLER : 0;
		leads("  the interpreter's, near its end: to the caller's own sp", s, CALLER, 9, BP);
	}
	for (unsigned place = 0x7c00; place <= 0x7e80; place += place == 0x7c00 ? 0x1d0 :
								place == 0x7dd0 ? 0x30 :
										  0x80) {
		struct javaunwind_frame f;

		for (unsigned word = 0; word < WORDS; word++)
			stack[word] = word < 8 ? 0 : CALLER;
		ok(ends(at(CODE + place, 0, 0, false), &f) == UNWIND_NO_CODE,
		   "  something else behind a call: no guess");
	}
	memset(stack, 0, sizeof(stack));
}

static void adapters(void)
{
	struct unwind_state s = at(CODE + 0x5000, 4, BP, true);

	PUT(CODE + 0x5010, "\x58\x4c\x8b\xec\x48\x83\xec\x20\x48\x89\x04\x24\x90");
	stack[4] = CALLER;
	stack[0] = CALLER + 1;
	leads("adapter, nothing moved", s, CALLER, 5, BP);
	s = at(CODE + 0x5018, 0, BP, true);
	s.reg[0] = CALLER + 7;
	s.reg[13] = STACK + 8 * 5;
	leads("adapter, return address in rax", s, CALLER + 7, 5, BP);
	s.ip = CODE + 0x501c;
	leads("adapter, stored", s, CALLER + 1, 5, BP);
}

static void virtual_threads(void)
{
	struct unwind_state s = at(CODE + 0x6010, 4, STACK + 8 * 30, false);
	struct javaunwind_frame f;

	stack[30] = BP;
	stack[31] = CALLER;
	leads("thawed: to where the thread began", s, CODE + 0x7020, 30 + 2 - 10, STACK + 8 * 30);
	ok(ends(s, &f) == UNWIND_MORE && f.thawed, "  and is no frame");
	leads("  and from there", at(CODE + 0x7020, 22, STACK + 8 * 30, false), CALLER, 32, BP);
}

int main(void)
{
	compiled();
	without_bang();
	deoptimized();
	interpreted();
	entered();
	stubs();
	exception();
	freed_by_lea();
	arguments();
	spilled();
	adapters();
	virtual_threads();
	return done();
}
