/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/hostframe.h"

#include <string.h>

/* Bytes by which PHP's JIT compiler (8.0 to 8.3) moves the stack pointer down from that of the eval function: 0 in the
 * code of functions; 8 for the return address of a call within generated code; 16 for that and a pad; 256 for the
 * registers that the exit of a trace saves. Later versions need only 0: the rule of their host depends on rbp, which
 * their generated code does not change. Taken from the generated code of Debian's 8.2 and 8.4. */
static const uint64_t shared_moves[] = { 0, 8, 16, 256 };

/* The frame of YJIT's code: saved rbx, r12 and r13, then the return address. Bytes by which the code moves the stack
 * pointer down: 0 in most code; 16 for a value and a pad; 48 for registers that are saved while more code is compiled.
 * Taken from yjit/src/codegen.rs and core.rs of Ruby 3.3 and 3.4. */
static const uint64_t own_moves[] = { 0, 16, 48 };
#define OWN_BYTES 32u
static const uint8_t own_slots[] = { CFI_RBX, 12, 13 }; /* slots of the saved registers, from the lowest address on */

static bool hostframe_is_caller(const struct hostframe *hostframe, uint64_t ip)
{
	for (uint32_t i = 0; i < hostframe->ncallers && i < HOSTFRAME_CALLERS_MAX; i++)
		if (ip - 1 >= hostframe->caller[i].start && ip - 1 < hostframe->caller[i].end)
			return true;
	return false;
}

static enum unwind_end hostframe_step_shared(struct unwind_state *state, const struct walk_code *code)
{
	const struct hostframe *hostframe = code->blob;
	enum unwind_end end = UNWIND_NO_CODE;

	for (size_t i = 0; i < countof(shared_moves); i++) {
		struct unwind_state next = *state;
		enum unwind_end of;

		next.ip = hostframe->host;
		next.interrupted = true;
		next.sp += shared_moves[i];
		of = unwind_step(&next, code->tables, false);
		if (of == UNWIND_MORE && hostframe_is_caller(hostframe, next.ip)) {
			*state = next;
			return of;
		}
		if (of == UNWIND_STACK_CUT)
			end = of;
	}
	return end;
}

/* Loads a word of the stack copy. Returns false if the copy does not have it. */
static bool hostframe_load(const struct unwind_state *state, uint64_t address, uint64_t *value)
{
	uint64_t at = address - state->stack_start;

	if (address < state->stack_start || at > state->stack.n || state->stack.n - at < sizeof(*value))
		return false;
	memcpy(value, state->stack.p + at, sizeof(*value));
	return true;
}

/* Moves *state to the caller of a frame with `saved` saved registers (the last ones of own_slots) at sp, and returns
 * UNWIND_MORE. Otherwise leaves *state unchanged: returns UNWIND_STACK_CUT if the stack copy lacks a word, or
 * UNWIND_NO_CODE if the word after the registers is no return address in a known caller. */
static enum unwind_end hostframe_leave(struct unwind_state *state, const struct hostframe *hostframe, uint64_t sp,
				       unsigned saved)
{
	struct unwind_state next = *state;
	uint64_t cfa = sp + 8 * (uint64_t)saved + 8;

	if (!hostframe_load(state, cfa - 8, &next.ip))
		return UNWIND_STACK_CUT;
	if (cfa <= state->sp || !hostframe_is_caller(hostframe, next.ip))
		return UNWIND_NO_CODE;
	for (unsigned i = 0; i < saved; i++) {
		unsigned slot = own_slots[countof(own_slots) - saved + i];

		if (!hostframe_load(state, sp + 8 * (uint64_t)i, &next.reg[slot]))
			return UNWIND_STACK_CUT;
		next.valid |= UINT32_C(1) << slot;
	}
	next.sp = cfa;
	next.interrupted = false;
	next.native = true;
	*state = next;
	return UNWIND_MORE;
}

/* Moves *state to the caller of YJIT's code. An interrupted frame may have saved only some registers yet, or have
 * restored some already: these still have the caller's values, so a leaf is also tried with fewer saved registers. */
static enum unwind_end hostframe_step_own(struct unwind_state *state, const struct hostframe *hostframe, bool leaf)
{
	enum unwind_end end = UNWIND_NO_CODE;

	_Static_assert(OWN_BYTES == 8 * countof(own_slots) + 8, "saved registers and the return address");
	for (size_t i = 0; i < countof(own_moves); i++) {
		enum unwind_end of = hostframe_leave(state, hostframe, state->sp + own_moves[i], countof(own_slots));

		if (of == UNWIND_MORE)
			return of;
		if (of == UNWIND_STACK_CUT)
			end = of;
	}
	for (unsigned saved = countof(own_slots); leaf && saved-- > 0;)
		if (hostframe_leave(state, hostframe, state->sp, saved) == UNWIND_MORE)
			return UNWIND_MORE;
	return end;
}

static enum unwind_end hostframe_step(struct unwind_state *state, const struct walk_code *code, bool leaf,
				      struct walk_frame *frame)
{
	const struct hostframe *hostframe = code->blob;
	bool own = hostframe->kind == HOSTFRAME_OWN;
	enum unwind_end end = own ? hostframe_step_own(state, hostframe, leaf) : hostframe_step_shared(state, code);

	if (end == UNWIND_MORE) {
		frame->generated = own ? WALK_CALLED : WALK_HOSTED;
	} else if (end == UNWIND_NO_CODE && !hostframe->end) {
		/* The range of the host's code is unknown, so this may be other generated code, with frame pointers. */
		frame->by_pointer = true;
		end = unwind_step(state, (struct unwind_code){ 0 }, leaf);
	}
	return end;
}

const struct unwinder unwinder_host_frame = { "host frame", hostframe_step };
