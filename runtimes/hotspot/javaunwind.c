/* SPDX-License-Identifier: Apache-2.0 */
#include "runtimes/hotspot/javaunwind.h"

#include "unwind/dwarf/cfi.h"
#include "unwind/dwarf/cfiexpr.h"
#include "runtimes/hotspot/javaframe.h"

/* DWARF register numbers of x86-64. */
enum { RAX = 0, RDX = 1, RBX = 3, R12 = 12, R13 = 13, R14 = 14, R15 = 15 };

static const uint32_t SAVED = 1U << RBX | 1U << CFI_RBP | 1U << R12 | 1U << R13 | 1U << R14 | 1U << R15;

enum { SENDER_MAX = 1 << 20, BEYOND_MAX = 4, THAW_EFFORT = 1000, PUSHED_MAX = 16, PUT_AWAY_MAX = 4096 };

static bool javaunwind_load(const struct unwind_state *state, uint64_t address, uint64_t *value)
{
	return cfi_load(state->stack, state->stack_start, address, value);
}

static bool javaunwind_has(const struct unwind_state *state, unsigned reg)
{
	return state->valid >> reg & 1;
}

/* ---- lookup of code ---------------------------------------------------------------------------------------------- */

static const struct code_blob *blob_at(const struct javaunwind_code *jvm_code, uint64_t address)
{
	size_t low = 0, high = jvm_code->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (address < jvm_code->blob[mid].start)
			high = mid;
		else if (address >= jvm_code->blob[mid].end)
			low = mid + 1;
		else
			return &jvm_code->blob[mid];
	}
	return NULL;
}

/* Returns the blob that contains the call before the return address ip, at ip - 1. A BLOB_THAW is an exception:
 * frames of virtual threads return to its start. */
static const struct code_blob *blob_of_return(const struct javaunwind_code *jvm_code, uint64_t ip)
{
	const struct code_blob *blob = blob_at(jvm_code, ip);

	return blob && blob->kind == BLOB_THAW && blob->start == ip ? blob : blob_at(jvm_code, ip - 1);
}

const struct code_blob *javaunwind_find(const struct javaunwind_code *jvm_code, const struct unwind_state *state)
{
	return state->interrupted ? blob_at(jvm_code, state->ip) : blob_of_return(jvm_code, state->ip);
}

static bool may_return_to(const struct javaunwind_code *jvm_code, uint64_t ip)
{
	return ip && (blob_of_return(jvm_code, ip) || jvm_code->is_code(jvm_code->arg, ip - 1));
}

/* ---- arrival at the caller --------------------------------------------------------------------------------------- */

/* Moves state to the caller, with instruction pointer ip and stack pointer sp; state->bp has the caller's rbp
 * already. `valid` is the mask of the other registers that are known in the caller. Returns UNWIND_MORE, or the
 * reason why the caller is implausible. */
static enum unwind_end javaunwind_arrive(struct unwind_state *state, uint64_t ip, uint64_t sp, uint32_t valid)
{
	/* sp must grow with each step. It may stay the same only in an interrupted frame whose return address was
	 * popped already. */
	if (sp < state->sp + !state->interrupted)
		return UNWIND_LOOP;
	if (sp - state->stack_start > state->stack.n)
		return UNWIND_STACK_CUT;
	state->ip = ip;
	state->sp = state->reg[CFI_RSP] = sp;
	state->reg[CFI_RBP] = state->bp;
	state->valid = valid | 1U << CFI_RSP;
	state->interrupted = state->native = false;
	return UNWIND_MORE;
}

static uint32_t rbp_if_known(const struct unwind_state *state)
{
	return state->valid & 1U << CFI_RBP;
}

/* Steps to the caller if the return address is at stack address `at` and rbp still has the caller's value. */
static enum unwind_end javaunwind_step_fp(struct unwind_state *state, const struct javaunwind_code *jvm_code,
					  uint64_t at)
{
	uint64_t ip;

	if (!javaunwind_load(state, at, &ip))
		return UNWIND_STACK_CUT;
	if (!may_return_to(jvm_code, ip))
		return UNWIND_NO_CODE;
	return javaunwind_arrive(state, ip, at + 8, rbp_if_known(state));
}

/* Steps to the caller if the caller's rbp is saved at stack address `at` and the return address at at + 8. */
static enum unwind_end step_saved(struct unwind_state *state, const struct javaunwind_code *jvm_code, uint64_t at)
{
	uint64_t ip, bp, before = state->bp;
	enum unwind_end end;

	if (!javaunwind_load(state, at, &bp) || !javaunwind_load(state, at + 8, &ip))
		return UNWIND_STACK_CUT;
	if (!may_return_to(jvm_code, ip))
		return UNWIND_NO_CODE;
	state->bp = bp;
	end = javaunwind_arrive(state, ip, at + 16, 1U << CFI_RBP);
	if (end != UNWIND_MORE)
		state->bp = before;
	return end;
}

/* Returns true if the stack word at address `at` may be a return address. */
static bool may_return_at(const struct unwind_state *state, const struct javaunwind_code *jvm_code, uint64_t at)
{
	uint64_t ip;

	return javaunwind_load(state, at, &ip) && may_return_to(jvm_code, ip);
}

static bool is_frame(const struct unwind_state *state)
{
	return javaunwind_has(state, CFI_RBP) && state->bp % 8 == 0 && state->bp >= state->sp &&
	       state->bp - state->stack_start <= state->stack.n;
}

static enum unwind_end step_by_rbp(struct unwind_state *state, const struct javaunwind_code *jvm_code)
{
	return is_frame(state) ? step_saved(state, jvm_code, state->bp) : UNWIND_NO_CODE;
}

/* ---- compiled code and stubs ------------------------------------------------------------------------------------- */

/* Returns the number of bytes that the frame has spilled below its usual sp. Calls between compiled methods spill
 * nothing, so only an interrupted frame and the caller of native code are examined. */
static uint32_t spilled_bytes(const struct unwind_state *state, const struct javaunwind_code *jvm_code,
			      const struct code_blob *blob)
{
	return state->native || state->interrupted ? javaframe_spilled(jvm_code, blob, state->ip, state->sp) : 0;
}

static enum unwind_end step_by_size(struct unwind_state *state, const struct javaunwind_code *jvm_code,
				    const struct code_blob *blob, struct javaunwind_frame *frame)
{
	uint32_t spilled = spilled_bytes(state, jvm_code, blob);
	enum unwind_end end = step_saved(state, jvm_code, state->sp + spilled + blob->frame - 16);

	if (spilled)
		return end;
	/* A compiled method may call the runtime with more words on its stack than its frame size: try up to
	 * BEYOND_MAX (4) words more, as OpenTelemetry's unwinder does. */
	for (unsigned i = 1; i <= BEYOND_MAX && end == UNWIND_NO_CODE; i++) {
		end = step_saved(state, jvm_code, state->sp + blob->frame - 16 + 8 * i);
		frame->beyond = end == UNWIND_MORE;
	}
	return end;
}

static enum unwind_end step_leaf(struct unwind_state *state, const struct javaunwind_code *jvm_code,
				 const struct code_blob *blob)
{
	uint32_t more = 0, pushed = state->interrupted ? javaframe_pushed(jvm_code, blob, state->ip, &more) :
							 javaframe_aligned(jvm_code, state->ip);
	uint32_t argument_bytes = blob->kind == BLOB_LEAF ? blob->leaf.argument_bytes : 0;
	uint64_t at = state->sp + pushed + more, ip;

	if (!javaunwind_load(state, at, &ip))
		return UNWIND_STACK_CUT;
	/* Native code calls such stubs, too. A stub without pushes changes no callee-saved registers, so they are known
	 * in the caller. */
	return may_return_to(jvm_code, ip) ? javaunwind_arrive(state, ip, at + 8 + argument_bytes,
							       state->valid & (pushed ? 1U << CFI_RBP : SAVED)) :
					     UNWIND_NO_CODE;
}

static enum unwind_end step_compiled(struct unwind_state *state, const struct javaunwind_code *jvm_code,
				     const struct code_blob *blob, struct javaunwind_frame *frame)
{
	enum unwind_end end;
	uint64_t ip;

	if (blob->frame < 16)
		return step_leaf(state, jvm_code, blob);
	if (!state->interrupted && code_blob_is_deopt(blob, state->ip) && blob->nmethod.orig_pc &&
	    javaunwind_load(state, state->sp + blob->nmethod.orig_pc, &ip) &&
	    ip - blob->start <= blob->end - blob->start)
		frame->address = ip;
	if (state->interrupted) {
		switch (javaframe_compiled(jvm_code, blob, state->ip)) {
		case JAVAFRAME_NONE: return javaunwind_step_fp(state, jvm_code, state->sp);
		case JAVAFRAME_RBP: return step_saved(state, jvm_code, state->sp);
		case JAVAFRAME_UNSAVED: return javaunwind_step_fp(state, jvm_code, state->sp + blob->frame - 8);
		case JAVAFRAME_COMPLETE: break;
		}
	}
	/* A native wrapper may have aligned its stack for a call: try rbp first, then the frame size. */
	if (blob->kind == BLOB_NATIVE && is_frame(state) && state->bp - state->sp >= blob->frame - 16 &&
	    state->bp - state->sp < 4096) {
		end = step_by_rbp(state, jvm_code);
		if (end == UNWIND_MORE)
			return end;
	}
	return step_by_size(state, jvm_code, blob, frame);
}

static enum unwind_end step_put_away(struct unwind_state *state, const struct javaunwind_code *jvm_code,
				     const struct code_blob *blob)
{
	uint32_t away = state->interrupted ? javaframe_put_away(jvm_code, blob, state->ip) : 0;
	uint64_t at;

	if (!away || !javaunwind_load(state, state->sp + away, &at) || at % 8 || at <= state->sp ||
	    at - state->sp > PUT_AWAY_MAX)
		return UNWIND_NO_CODE;
	return step_saved(state, jvm_code, at);
}

/* Steps out of a stub whose frame is set up. A stub with stub.push_rbp != 0 pushes a word before rbp: its return
 * address is 16 bytes above the saved rbp. */
static enum unwind_end step_stub_frame(struct unwind_state *state, const struct javaunwind_code *jvm_code,
				       const struct code_blob *blob)
{
	uint64_t bp, before = state->bp;
	enum unwind_end end;

	if (blob->stub.push_rbp == 0)
		return is_frame(state) ? step_by_rbp(state, jvm_code) : step_put_away(state, jvm_code, blob);
	if (!is_frame(state))
		return UNWIND_NO_CODE;
	if (!javaunwind_load(state, state->bp, &bp))
		return UNWIND_STACK_CUT;
	state->bp = bp;
	end = javaunwind_step_fp(state, jvm_code, before + 16);
	if (end != UNWIND_MORE)
		state->bp = before;
	return end;
}

static enum unwind_end step_stub_itself(struct unwind_state *state, const struct javaunwind_code *jvm_code,
					const struct code_blob *blob)
{
	if (state->interrupted) {
		switch (javaframe_stub(jvm_code, blob, state->ip)) {
		case JAVAFRAME_NONE:
			return javaunwind_step_fp(state, jvm_code,
						  state->sp +
							  (blob->stub.push_rbp && state->ip != blob->start &&
									   !may_return_at(state, jvm_code, state->sp) ?
								   8 :
								   0));
		case JAVAFRAME_RBP:
			return blob->stub.push_rbp ? javaunwind_step_fp(state, jvm_code, state->sp + 16) :
						     step_saved(state, jvm_code, state->sp);
		default: return step_stub_frame(state, jvm_code, blob);
		}
	}
	if (blob->frame >= 16) {
		enum unwind_end end = step_saved(state, jvm_code, state->sp + blob->frame - 16);

		if (end != UNWIND_NO_CODE)
			return end;
	}
	return step_stub_frame(state, jvm_code, blob);
}

static enum unwind_end step_stub(struct unwind_state *state, const struct javaunwind_code *jvm_code,
				 const struct code_blob *blob)
{
	enum unwind_end end = step_stub_itself(state, jvm_code, blob);
	const struct code_blob *caller = end == UNWIND_MORE ? blob_of_return(jvm_code, state->ip) : NULL;

	if (caller && caller->kind == BLOB_COMPILED) {
		state->sp += javaframe_arguments(jvm_code, state->ip);
		state->reg[CFI_RSP] = state->sp;
	}
	return end;
}

/* Steps from the call stub to the native code that called Java. The call stub saves the callee-saved registers at
 * fixed offsets from rbp. */
static enum unwind_end step_call_stub(struct unwind_state *state, const struct javaunwind_code *jvm_code)
{
	static const struct {
		uint8_t reg, words;
	} saved[] = { { RBX, 7 }, { R12, 8 }, { R13, 9 }, { R14, 10 }, { R15, 11 } };
	uint64_t frame = state->bp;
	enum unwind_end end = step_by_rbp(state, jvm_code);

	if (end == UNWIND_MORE)
		for (size_t i = 0; i < countof(saved); i++)
			if (javaunwind_load(state, frame - 8U * saved[i].words, &state->reg[saved[i].reg]))
				state->valid |= 1U << saved[i].reg;
	return end;
}

/* Returns the caller's sp, which is in r13, or `otherwise` if r13 is unknown or implausible. */
static uint64_t sender_sp(const struct unwind_state *state, uint64_t otherwise)
{
	uint64_t sp = state->reg[R13];

	return javaunwind_has(state, R13) && sp % 8 == 0 && sp > state->sp && sp - state->sp < SENDER_MAX ? sp :
													    otherwise;
}

static enum unwind_end step_to(struct unwind_state *state, const struct javaunwind_code *jvm_code, uint64_t ip,
			       uint64_t sp)
{
	return may_return_to(jvm_code, ip) ? javaunwind_arrive(state, ip, sp, rbp_if_known(state)) : UNWIND_NO_CODE;
}

static enum unwind_end step_adapter(struct unwind_state *state, const struct javaunwind_code *jvm_code,
				    const struct code_blob *blob)
{
	uint64_t ip;

	switch (javaframe_adapter(jvm_code, blob, state->ip)) {
	case JAVAFRAME_IN_RAX: /* the return address is in rax, so sp is the caller's sp */
		return javaunwind_has(state, RAX) ? step_to(state, jvm_code, state->reg[RAX], state->sp) :
						    UNWIND_NO_CODE;
	case JAVAFRAME_IN_RAX_SENDER:
		return javaunwind_has(state, RAX) ?
			       step_to(state, jvm_code, state->reg[RAX], sender_sp(state, state->sp)) :
			       UNWIND_NO_CODE;
	case JAVAFRAME_AT_R13:
		return sender_sp(state, state->sp) == state->reg[R13] ?
			       javaunwind_step_fp(state, jvm_code, state->reg[R13]) :
			       UNWIND_NO_CODE;
	case JAVAFRAME_AT_SP_SENDER:
		return javaunwind_load(state, state->sp, &ip) ?
			       step_to(state, jvm_code, ip, sender_sp(state, state->sp + 8)) :
			       UNWIND_STACK_CUT;
	case JAVAFRAME_AT_SP: break;
	}
	return javaunwind_step_fp(state, jvm_code, state->sp);
}

static enum unwind_end step_pushed(struct unwind_state *state, const struct javaunwind_code *jvm_code,
				   const struct code_blob *blob)
{
	if (blob->frame < 16)
		return UNWIND_NO_CODE;
	if (state->interrupted) {
		switch (javaframe_exception(jvm_code, blob, state->ip)) {
		case JAVAFRAME_EXCEPTION_IN_RDX:
			return javaunwind_has(state, RDX) ? step_to(state, jvm_code, state->reg[RDX], state->sp) :
							    UNWIND_NO_CODE;
		case JAVAFRAME_EXCEPTION_AT_SP: return javaunwind_step_fp(state, jvm_code, state->sp);
		case JAVAFRAME_EXCEPTION_AFTER: return javaunwind_step_fp(state, jvm_code, state->sp + 8);
		case JAVAFRAME_EXCEPTION_NOT:
			/* The first instructions of this stub push an unknown number of words. */
			if (state->ip - blob->start < PUSHED_MAX)
				return UNWIND_NO_CODE;
			break;
		case JAVAFRAME_EXCEPTION_COMPLETE: break;
		}
	}
	return step_saved(state, jvm_code, state->sp + blob->frame - 16);
}

/* Steps from the return barrier of a virtual thread to the thread's outermost frame (enterSpecial). When HotSpot
 * thaws frames from the heap, it sets rbp to that frame. */
static enum unwind_end step_thaw(struct unwind_state *state, const struct javaunwind_code *jvm_code,
				 const struct code_blob *blob, struct javaunwind_frame *frame)
{
	const struct code_blob *p =
		jvm_code->continuation_return ? blob_at(jvm_code, jvm_code->continuation_return - 1) : NULL;
	uint64_t sp;

	if (!p || p->frame < 16 || !is_frame(state))
		return UNWIND_NO_CODE;
	sp = state->bp + 16 - p->frame;
	if (sp > state->bp)
		return UNWIND_NO_CODE;
	/* sp does not grow if the last thawed frame has no stack arguments. So each such step takes THAW_EFFORT of
	 * the effort limit, which bounds the loop. */
	if (state->effort < THAW_EFFORT)
		return UNWIND_LOOP;
	state->effort -= THAW_EFFORT;
	frame->thawed = !state->interrupted && state->ip == blob->start;
	state->ip = jvm_code->continuation_return;
	state->sp = state->reg[CFI_RSP] = sp > state->sp ? sp : state->sp;
	state->valid &= 1U << CFI_RBP | 1U << CFI_RSP;
	state->interrupted = state->native = false;
	return UNWIND_MORE;
}

/* ---- the interpreter --------------------------------------------------------------------------------------------- */

static enum unwind_end step_interpreted(struct unwind_state *state, const struct javaunwind_code *jvm_code,
					struct javaunwind_frame *frame)
{
	uint64_t ip, bp, sender, method, before = state->bp;
	bool known = true;
	enum unwind_end end;

	if (!is_frame(state))
		return UNWIND_NO_CODE;
	if (!javaunwind_load(state, state->bp, &bp) || !javaunwind_load(state, state->bp + 8, &ip))
		return UNWIND_STACK_CUT;
	/* While the prologue builds the frame, r13 still has the sender sp, and rbx the Method*. */
	if (state->interrupted && state->sp > state->bp - 8)
		sender = state->reg[R13];
	else
		known = javaunwind_load(state, state->bp - 8, &sender);
	if (state->interrupted && state->sp > state->bp - 24)
		method = state->reg[RBX];
	else
		known &= javaunwind_load(state, state->bp - 24, &method);
	if (!known || sender % 8 || sender < state->bp + 8 || sender - state->bp > SENDER_MAX ||
	    !may_return_to(jvm_code, ip))
		return UNWIND_NO_CODE;
	/* A frame without a plausible Method* is one that deoptimization is building from a compiled frame: *frame
	 * keeps the code address. */
	if (method % 8 == 0 && method >= 4096)
		*frame = (struct javaunwind_frame){ .address = method, .exact = true, .method = true };
	/* For methods without arguments, deoptimization builds frames whose sender sp is below bp + 16. */
	sender = sender < state->bp + 16 ? state->bp + 16 : sender;
	state->bp = bp;
	end = javaunwind_arrive(state, ip, sender, 1U << CFI_RBP);
	if (end != UNWIND_MORE)
		state->bp = before;
	return end;
}

static void name_by_rbx(const struct unwind_state *state, struct javaunwind_frame *frame)
{
	if (javaunwind_has(state, RBX) && state->reg[RBX] % 8 == 0 && state->reg[RBX] >= 4096)
		*frame = (struct javaunwind_frame){ .address = state->reg[RBX], .exact = true, .method = true };
}

/* Steps to the caller if the interpreter has removed its frame: the address is in the exit sequence (javaframe.h). */
static enum unwind_end step_exit(struct unwind_state *state, const struct javaunwind_code *jvm_code,
				 const struct javaframe_exit *exit)
{
	uint64_t ip = state->reg[exit->ra], sp = state->reg[exit->sender];

	if (!exit->popped && !javaunwind_load(state, state->sp, &ip))
		return UNWIND_STACK_CUT;
	if (sp % 8 || sp <= state->sp || sp - state->sp > SENDER_MAX)
		sp = state->sp + 8;
	return step_to(state, jvm_code, ip, sp);
}

/* Steps out of the interpreter's entry of a math intrinsic (sin and others), which has no frame. Around calls into
 * libjvm the entry spills arguments or all registers. r13 holds the caller's sp; if the caller is interpreted, the
 * return address is just below it. */
static enum unwind_end step_math(struct unwind_state *state, const struct javaunwind_code *jvm_code,
				 const struct code_blob *blob)
{
	uint32_t spilled;
	struct javaframe_exit exit;
	uint64_t at, ip;

	if (sender_sp(state, 0) && may_return_at(state, jvm_code, state->reg[R13] - 8))
		return javaunwind_step_fp(state, jvm_code, state->reg[R13] - 8);
	if (state->interrupted && javaframe_exit(jvm_code, blob, state->ip, &exit))
		return step_exit(state, jvm_code, &exit);
	spilled = spilled_bytes(state, jvm_code, blob);
	at = state->sp + spilled;
	if (!javaunwind_load(state, at, &ip))
		return UNWIND_STACK_CUT;
	if (!may_return_to(jvm_code, ip) && !state->interrupted && !spilled) {
		/* The entry has aligned the stack for a call: the return address is one word higher. */
		at += 8;
		if (!javaunwind_load(state, at, &ip))
			return UNWIND_STACK_CUT;
	}
	return step_to(state, jvm_code, ip, sender_sp(state, at + 8));
}

/* Steps out of a method entry of the interpreter. The entry pushes the locals between the arguments and the return
 * address; meanwhile, rax has the return address. */
static enum unwind_end step_entry(struct unwind_state *state, const struct javaunwind_code *jvm_code,
				  const struct code_blob *blob, struct javaunwind_frame *frame)
{
	uint64_t at = state->ip - blob->start, ip;

	if (blob->method_entry.push_rax == BLOB_NEVER)
		return step_math(state, jvm_code, blob);
	if (!state->interrupted || at > blob->method_entry.push_rax + 2) {
		struct javaframe_exit exit;

		if (!state->interrupted || !javaframe_exit(jvm_code, blob, state->ip, &exit))
			return step_interpreted(state, jvm_code, frame);
		if (!exit.popped)
			return javaunwind_step_fp(state, jvm_code, state->sp);
		return may_return_to(jvm_code, state->reg[exit.ra]) ?
			       javaunwind_arrive(state, state->reg[exit.ra], state->sp + 8, rbp_if_known(state)) :
			       UNWIND_NO_CODE;
	}
	name_by_rbx(state, frame);
	ip = state->reg[RAX];
	/* push rbp is done: the return address is above the saved rbp. */
	if (at == blob->method_entry.push_rax + 2)
		return javaunwind_load(state, state->sp + 8, &ip) && may_return_to(jvm_code, ip) ?
			       javaunwind_arrive(state, ip, sender_sp(state, state->sp + 16), rbp_if_known(state)) :
			       UNWIND_NO_CODE;
	if ((at == blob->method_entry.push_rax + 1 || blob->method_entry.pop_rax == BLOB_NEVER ||
	     at <= blob->method_entry.pop_rax) &&
	    !javaunwind_load(state, state->sp, &ip))
		return UNWIND_STACK_CUT;
	return may_return_to(jvm_code, ip) ?
		       javaunwind_arrive(state, ip, sender_sp(state, state->sp + 8), rbp_if_known(state)) :
		       UNWIND_NO_CODE;
}

static enum unwind_end step_bytecode(struct unwind_state *state, const struct javaunwind_code *jvm_code,
				     const struct code_blob *blob, struct javaunwind_frame *frame)
{
	struct javaframe_exit exit;

	return state->interrupted && javaframe_exit(jvm_code, blob, state->ip, &exit) ?
		       step_exit(state, jvm_code, &exit) :
		       step_interpreted(state, jvm_code, frame);
}

/* ---- step -------------------------------------------------------------------------------------------------------- */

enum unwind_end javaunwind_step(struct unwind_state *state, const struct javaunwind_code *jvm_code,
				const struct code_blob *blob, struct javaunwind_frame *frame)
{
	*frame = (struct javaunwind_frame){ .address = state->ip, .exact = state->interrupted };
	if (!state->interrupted && state->ip == jvm_code->call_stub_return)
		return step_call_stub(state, jvm_code);
	switch ((enum blob_kind)blob->kind) {
	case BLOB_COMPILED:
	case BLOB_NATIVE: return step_compiled(state, jvm_code, blob, frame);
	case BLOB_STUB: return step_stub(state, jvm_code, blob);
	case BLOB_PUSHED: return step_pushed(state, jvm_code, blob);
	case BLOB_LEAF: return step_leaf(state, jvm_code, blob);
	case BLOB_ADAPTER: return step_adapter(state, jvm_code, blob);
	case BLOB_ENTRY: return step_entry(state, jvm_code, blob, frame);
	case BLOB_BYTECODE: return step_bytecode(state, jvm_code, blob, frame);
	case BLOB_THAW: return step_thaw(state, jvm_code, blob, frame);
	}
	return UNWIND_NO_CODE;
}
