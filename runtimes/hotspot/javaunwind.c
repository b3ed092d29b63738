/* SPDX-License-Identifier: Apache-2.0 */
#include "runtimes/hotspot/javaunwind.h"

#include "unwind/dwarf/cfi.h"
#include "unwind/dwarf/cfiexpr.h"
#include "runtimes/hotspot/javaframe.h"

/* DWARF's numbers of what the interpreter keeps where. */
enum { RAX = 0, RDX = 1, RBX = 3, R12 = 12, R13 = 13, R14 = 14, R15 = 15 };

static const uint32_t SAVED = 1U << RBX | 1U << CFI_RBP | 1U << R12 | 1U << R13 | 1U << R14 | 1U << R15;

enum { SENDER_MAX = 1 << 20, BEYOND_MAX = 4, THAW_EFFORT = 1000, PUSHED_MAX = 16, PUT_AWAY_MAX = 4096 };

static bool javaunwind_load(const struct unwind_state *s, uint64_t address, uint64_t *value)
{
	return cfi_load(s->stack, s->stack_start, address, value);
}

static bool javaunwind_has(const struct unwind_state *s, unsigned reg)
{
	return s->valid >> reg & 1;
}

/* ---- which code -------------------------------------------------------------------------------------------------- */

static const struct code_blob *blob_at(const struct javaunwind_code *c, uint64_t address)
{
	size_t low = 0, high = c->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (address < c->blob[mid].start)
			high = mid;
		else if (address >= c->blob[mid].end)
			low = mid + 1;
		else
			return &c->blob[mid];
	}
	return NULL;
}

/* A return address at the start of a piece is none of what stands before it: frames of virtual threads get such ones.
 */
static const struct code_blob *blob_of_return(const struct javaunwind_code *c, uint64_t ip)
{
	const struct code_blob *p = blob_at(c, ip);

	return p && p->kind == BLOB_THAW && p->start == ip ? p : blob_at(c, ip - 1);
}

const struct code_blob *javaunwind_find(const struct javaunwind_code *c, const struct unwind_state *s)
{
	return s->interrupted ? blob_at(c, s->ip) : blob_of_return(c, s->ip);
}

static bool may_return_to(const struct javaunwind_code *c, uint64_t ip)
{
	return ip && (blob_of_return(c, ip) || c->is_code(c->arg, ip - 1));
}

/* ---- arriving ---------------------------------------------------------------------------------------------------- */

/* The caller is at ip; what is known of its registers but these is in valid. */
static enum unwind_end javaunwind_arrive(struct unwind_state *s, uint64_t ip, uint64_t sp, uint32_t valid)
{
	/* the stack grows with each step, but where the return address was popped already */
	if (sp < s->sp + !s->interrupted)
		return UNWIND_LOOP;
	if (sp - s->stack_start > s->stack.n)
		return UNWIND_STACK_CUT;
	s->ip = ip;
	s->sp = s->reg[CFI_RSP] = sp;
	s->reg[CFI_RBP] = s->bp;
	s->valid = valid | 1U << CFI_RSP;
	s->interrupted = s->native = false;
	return UNWIND_MORE;
}

static uint32_t rbp_if_known(const struct unwind_state *s)
{
	return s->valid & 1U << CFI_RBP;
}

/* The return address is at `at`; rbp is still the caller's. */
static enum unwind_end javaunwind_step_fp(struct unwind_state *s, const struct javaunwind_code *c, uint64_t at)
{
	uint64_t ip;

	if (!javaunwind_load(s, at, &ip))
		return UNWIND_STACK_CUT;
	if (!may_return_to(c, ip))
		return UNWIND_NO_CODE;
	return javaunwind_arrive(s, ip, at + 8, rbp_if_known(s));
}

/* rbp and the return address were saved at `at`. */
static enum unwind_end step_saved(struct unwind_state *s, const struct javaunwind_code *c, uint64_t at)
{
	uint64_t ip, bp, before = s->bp;
	enum unwind_end end;

	if (!javaunwind_load(s, at, &bp) || !javaunwind_load(s, at + 8, &ip))
		return UNWIND_STACK_CUT;
	if (!may_return_to(c, ip))
		return UNWIND_NO_CODE;
	s->bp = bp;
	end = javaunwind_arrive(s, ip, at + 16, 1U << CFI_RBP);
	if (end != UNWIND_MORE)
		s->bp = before;
	return end;
}

/* Is what is at an address of the stack a return address? */
static bool may_return_at(const struct unwind_state *s, const struct javaunwind_code *c, uint64_t at)
{
	uint64_t ip;

	return javaunwind_load(s, at, &ip) && may_return_to(c, ip);
}

static bool is_frame(const struct unwind_state *s)
{
	return javaunwind_has(s, CFI_RBP) && s->bp % 8 == 0 && s->bp >= s->sp && s->bp - s->stack_start <= s->stack.n;
}

static enum unwind_end step_by_rbp(struct unwind_state *s, const struct javaunwind_code *c)
{
	return is_frame(s) ? step_saved(s, c, s->bp) : UNWIND_NO_CODE;
}

/* ---- compiled code, stubs ---------------------------------------------------------------------------------------- */

/* Compiled callees leave a frame as it is. */
static uint32_t spilled_bytes(const struct unwind_state *s, const struct javaunwind_code *c, const struct code_blob *p)
{
	return s->native || s->interrupted ? javaframe_spilled(c, p, s->ip, s->sp) : 0;
}

static enum unwind_end step_by_size(struct unwind_state *s, const struct javaunwind_code *c, const struct code_blob *p,
				    struct javaunwind_frame *f)
{
	uint32_t spilled = spilled_bytes(s, c, p);
	enum unwind_end end = step_saved(s, c, s->sp + spilled + p->frame - 16);

	if (spilled)
		return end;
	/* Where a compiled method calls the runtime with more on its stack than its frame. OpenTelemetry's unwinder has
	 * the same bound. */
	for (unsigned i = 1; i <= BEYOND_MAX && end == UNWIND_NO_CODE; i++) {
		end = step_saved(s, c, s->sp + p->frame - 16 + 8 * i);
		f->beyond = end == UNWIND_MORE;
	}
	return end;
}

static enum unwind_end step_leaf(struct unwind_state *s, const struct javaunwind_code *c, const struct code_blob *p)
{
	uint32_t more = 0, pushed = s->interrupted ? javaframe_pushed(c, p, s->ip, &more) : javaframe_aligned(c, s->ip);
	uint64_t at = s->sp + pushed + more, ip;

	if (!javaunwind_load(s, at, &ip))
		return UNWIND_STACK_CUT;
	/* such stubs are called by native code, too, whose registers they keep */
	return may_return_to(c, ip) ?
		       javaunwind_arrive(s, ip, at + 8 + p->orig_pc, s->valid & (pushed ? 1U << CFI_RBP : SAVED)) :
		       UNWIND_NO_CODE;
}

static enum unwind_end step_compiled(struct unwind_state *s, const struct javaunwind_code *c, const struct code_blob *p,
				     struct javaunwind_frame *f)
{
	enum unwind_end end;
	uint64_t ip;

	if (p->frame < 16)
		return step_leaf(s, c, p);
	if (!s->interrupted && (s->ip == p->deopt[0] || s->ip == p->deopt[1]) && p->orig_pc &&
	    javaunwind_load(s, s->sp + p->orig_pc, &ip) && ip - p->start <= p->end - p->start)
		f->address = ip;
	if (s->interrupted) {
		switch (javaframe_compiled(c, p, s->ip)) {
		case JAVAFRAME_NONE: return javaunwind_step_fp(s, c, s->sp);
		case JAVAFRAME_RBP: return step_saved(s, c, s->sp);
		case JAVAFRAME_UNSAVED: return javaunwind_step_fp(s, c, s->sp + p->frame - 8);
		case JAVAFRAME_COMPLETE: break;
		}
	}
	/* A wrapper may have aligned its stack for a call. */
	if (p->kind == BLOB_NATIVE && is_frame(s) && s->bp - s->sp >= p->frame - 16 && s->bp - s->sp < 4096) {
		end = step_by_rbp(s, c);
		if (end == UNWIND_MORE)
			return end;
	}
	return step_by_size(s, c, p, f);
}

static enum unwind_end step_put_away(struct unwind_state *s, const struct javaunwind_code *c, const struct code_blob *p)
{
	uint32_t away = s->interrupted ? javaframe_put_away(c, p, s->ip) : 0;
	uint64_t at;

	if (!away || !javaunwind_load(s, s->sp + away, &at) || at % 8 || at <= s->sp || at - s->sp > PUT_AWAY_MAX)
		return UNWIND_NO_CODE;
	return step_saved(s, c, at);
}

/* A word in front of rbp, put away with it. */
static enum unwind_end step_stub_frame(struct unwind_state *s, const struct javaunwind_code *c,
				       const struct code_blob *p)
{
	uint64_t bp, before = s->bp;
	enum unwind_end end;

	if (p->entry == 0)
		return is_frame(s) ? step_by_rbp(s, c) : step_put_away(s, c, p);
	if (!is_frame(s))
		return UNWIND_NO_CODE;
	if (!javaunwind_load(s, s->bp, &bp))
		return UNWIND_STACK_CUT;
	s->bp = bp;
	end = javaunwind_step_fp(s, c, before + 16);
	if (end != UNWIND_MORE)
		s->bp = before;
	return end;
}

static enum unwind_end step_stub_itself(struct unwind_state *s, const struct javaunwind_code *c,
					const struct code_blob *p)
{
	if (s->interrupted) {
		switch (javaframe_stub(c, p, s->ip)) {
		case JAVAFRAME_NONE:
			return javaunwind_step_fp(
				s, c, s->sp + (p->entry && s->ip != p->start && !may_return_at(s, c, s->sp) ? 8 : 0));
		case JAVAFRAME_RBP: return p->entry ? javaunwind_step_fp(s, c, s->sp + 16) : step_saved(s, c, s->sp);
		default: return step_stub_frame(s, c, p);
		}
	}
	if (p->frame >= 16) {
		enum unwind_end end = step_saved(s, c, s->sp + p->frame - 16);

		if (end != UNWIND_NO_CODE)
			return end;
	}
	return step_stub_frame(s, c, p);
}

static enum unwind_end step_stub(struct unwind_state *s, const struct javaunwind_code *c, const struct code_blob *p)
{
	enum unwind_end end = step_stub_itself(s, c, p);
	const struct code_blob *caller = end == UNWIND_MORE ? blob_of_return(c, s->ip) : NULL;

	if (caller && caller->kind == BLOB_COMPILED) {
		s->sp += javaframe_arguments(c, s->ip);
		s->reg[CFI_RSP] = s->sp;
	}
	return end;
}

/* Native code called Java: what it wants kept was saved at fixed places. */
static enum unwind_end step_call_stub(struct unwind_state *s, const struct javaunwind_code *c)
{
	static const struct {
		uint8_t reg, words;
	} saved[] = { { RBX, 7 }, { R12, 8 }, { R13, 9 }, { R14, 10 }, { R15, 11 } };
	uint64_t frame = s->bp;
	enum unwind_end end = step_by_rbp(s, c);

	if (end == UNWIND_MORE)
		for (size_t i = 0; i < countof(saved); i++)
			if (javaunwind_load(s, frame - 8U * saved[i].words, &s->reg[saved[i].reg]))
				s->valid |= 1U << saved[i].reg;
	return end;
}

/* r13 holds the caller's sp, if it looks like that. */
static uint64_t sender_sp(const struct unwind_state *s, uint64_t otherwise)
{
	uint64_t sp = s->reg[R13];

	return javaunwind_has(s, R13) && sp % 8 == 0 && sp > s->sp && sp - s->sp < SENDER_MAX ? sp : otherwise;
}

static enum unwind_end step_to(struct unwind_state *s, const struct javaunwind_code *c, uint64_t ip, uint64_t sp)
{
	return may_return_to(c, ip) ? javaunwind_arrive(s, ip, sp, rbp_if_known(s)) : UNWIND_NO_CODE;
}

static enum unwind_end step_adapter(struct unwind_state *s, const struct javaunwind_code *c, const struct code_blob *p)
{
	uint64_t ip;

	switch (javaframe_adapter(c, p, s->ip)) {
	case JAVAFRAME_IN_RAX: /* it was popped: the caller's sp is ours */
		return javaunwind_has(s, RAX) ? step_to(s, c, s->reg[RAX], s->sp) : UNWIND_NO_CODE;
	case JAVAFRAME_IN_RAX_SENDER:
		return javaunwind_has(s, RAX) ? step_to(s, c, s->reg[RAX], sender_sp(s, s->sp)) : UNWIND_NO_CODE;
	case JAVAFRAME_AT_R13:
		return sender_sp(s, s->sp) == s->reg[R13] ? javaunwind_step_fp(s, c, s->reg[R13]) : UNWIND_NO_CODE;
	case JAVAFRAME_AT_SP_SENDER:
		return javaunwind_load(s, s->sp, &ip) ? step_to(s, c, ip, sender_sp(s, s->sp + 8)) : UNWIND_STACK_CUT;
	case JAVAFRAME_AT_SP: break;
	}
	return javaunwind_step_fp(s, c, s->sp);
}

static enum unwind_end step_pushed(struct unwind_state *s, const struct javaunwind_code *c, const struct code_blob *p)
{
	if (p->frame < 16)
		return UNWIND_NO_CODE;
	if (s->interrupted) {
		switch (javaframe_exception(c, p, s->ip)) {
		case JAVAFRAME_EXCEPTION_IN_RDX:
			return javaunwind_has(s, RDX) ? step_to(s, c, s->reg[RDX], s->sp) : UNWIND_NO_CODE;
		case JAVAFRAME_EXCEPTION_AT_SP: return javaunwind_step_fp(s, c, s->sp);
		case JAVAFRAME_EXCEPTION_AFTER: return javaunwind_step_fp(s, c, s->sp + 8);
		case JAVAFRAME_EXCEPTION_NOT: /* what it pushes first is not known */
			if (s->ip - p->start < PUSHED_MAX)
				return UNWIND_NO_CODE;
			break;
		case JAVAFRAME_EXCEPTION_COMPLETE: break;
		}
	}
	return step_saved(s, c, s->sp + p->frame - 16);
}

/* The frame that a virtual thread began in is where rbp points: who thaws a frame from the heap says so. */
static enum unwind_end step_thaw(struct unwind_state *s, const struct javaunwind_code *c, const struct code_blob *blob,
				 struct javaunwind_frame *f)
{
	const struct code_blob *p = c->continuation_return ? blob_at(c, c->continuation_return - 1) : NULL;
	uint64_t sp;

	if (!p || p->frame < 16 || !is_frame(s))
		return UNWIND_NO_CODE;
	sp = s->bp + 16 - p->frame;
	if (sp > s->bp)
		return UNWIND_NO_CODE;
	/* sp is where it was when the last frame has no arguments on the stack; so this is bounded by itself. */
	if (s->effort < THAW_EFFORT)
		return UNWIND_LOOP;
	s->effort -= THAW_EFFORT;
	f->thawed = !s->interrupted && s->ip == blob->start;
	s->ip = c->continuation_return;
	s->sp = s->reg[CFI_RSP] = sp > s->sp ? sp : s->sp;
	s->valid &= 1U << CFI_RBP | 1U << CFI_RSP;
	s->interrupted = s->native = false;
	return UNWIND_MORE;
}

/* ---- the interpreter --------------------------------------------------------------------------------------------- */

static enum unwind_end step_interpreted(struct unwind_state *s, const struct javaunwind_code *c,
					struct javaunwind_frame *f)
{
	uint64_t ip, bp, sender, method, before = s->bp;
	bool known = true;
	enum unwind_end end;

	if (!is_frame(s))
		return UNWIND_NO_CODE;
	if (!javaunwind_load(s, s->bp, &bp) || !javaunwind_load(s, s->bp + 8, &ip))
		return UNWIND_STACK_CUT;
	/* while the frame is made they are in registers */
	if (s->interrupted && s->sp > s->bp - 8)
		sender = s->reg[R13];
	else
		known = javaunwind_load(s, s->bp - 8, &sender);
	if (s->interrupted && s->sp > s->bp - 24)
		method = s->reg[RBX];
	else
		known &= javaunwind_load(s, s->bp - 24, &method);
	if (!known || sender % 8 || sender < s->bp + 8 || sender - s->bp > SENDER_MAX || !may_return_to(c, ip))
		return UNWIND_NO_CODE;
	if (method % 8 == 0 && method >= 4096) /* else a frame that is being made of a compiled one */
		*f = (struct javaunwind_frame){ .address = method, .exact = true, .method = true };
	/* deoptimisation makes frames of methods without arguments so */
	sender = sender < s->bp + 16 ? s->bp + 16 : sender;
	s->bp = bp;
	end = javaunwind_arrive(s, ip, sender, 1U << CFI_RBP);
	if (end != UNWIND_MORE)
		s->bp = before;
	return end;
}

static void name_by_rbx(const struct unwind_state *s, struct javaunwind_frame *f)
{
	if (javaunwind_has(s, RBX) && s->reg[RBX] % 8 == 0 && s->reg[RBX] >= 4096)
		*f = (struct javaunwind_frame){ .address = s->reg[RBX], .exact = true, .method = true };
}

/* The frame is gone. */
static enum unwind_end step_exit(struct unwind_state *s, const struct javaunwind_code *c,
				 const struct javaframe_exit *e)
{
	uint64_t ip = s->reg[e->ra], sp = s->reg[e->sender];

	if (!e->popped && !javaunwind_load(s, s->sp, &ip))
		return UNWIND_STACK_CUT;
	if (sp % 8 || sp <= s->sp || sp - s->sp > SENDER_MAX)
		sp = s->sp + 8;
	return step_to(s, c, ip, sp);
}

/* sin() and the like: no frame, but arguments, or all registers, on the stack meanwhile. Its caller's sp waits in r13:
 * where that is interpreted, just behind the return address. */
static enum unwind_end step_math(struct unwind_state *s, const struct javaunwind_code *c, const struct code_blob *p)
{
	uint32_t spilled;
	struct javaframe_exit e;
	uint64_t at, ip;

	if (sender_sp(s, 0) && may_return_at(s, c, s->reg[R13] - 8))
		return javaunwind_step_fp(s, c, s->reg[R13] - 8);
	if (s->interrupted && javaframe_exit(c, p, s->ip, &e))
		return step_exit(s, c, &e);
	spilled = spilled_bytes(s, c, p);
	at = s->sp + spilled;
	if (!javaunwind_load(s, at, &ip))
		return UNWIND_STACK_CUT;
	if (!may_return_to(c, ip) && !s->interrupted && !spilled) {
		at += 8; /* aligned for a call */
		if (!javaunwind_load(s, at, &ip))
			return UNWIND_STACK_CUT;
	}
	return step_to(s, c, ip, sender_sp(s, at + 8));
}

/* Where a method begins: locals are pushed between the arguments and the return address, which waits in rax meanwhile.
 */
static enum unwind_end step_entry(struct unwind_state *s, const struct javaunwind_code *c, const struct code_blob *p,
				  struct javaunwind_frame *f)
{
	uint64_t at = s->ip - p->start, ip;

	if (p->complete == BLOB_NEVER)
		return step_math(s, c, p);
	if (!s->interrupted || at > p->complete + 2) {
		struct javaframe_exit e;

		if (!s->interrupted || !javaframe_exit(c, p, s->ip, &e))
			return step_interpreted(s, c, f);
		if (!e.popped)
			return javaunwind_step_fp(s, c, s->sp);
		return may_return_to(c, s->reg[e.ra]) ? javaunwind_arrive(s, s->reg[e.ra], s->sp + 8, rbp_if_known(s)) :
							UNWIND_NO_CODE;
	}
	name_by_rbx(s, f);
	ip = s->reg[RAX];
	if (at == p->complete + 2) /* behind push rbp */
		return javaunwind_load(s, s->sp + 8, &ip) && may_return_to(c, ip) ?
			       javaunwind_arrive(s, ip, sender_sp(s, s->sp + 16), rbp_if_known(s)) :
			       UNWIND_NO_CODE;
	if ((at == p->complete + 1 || p->entry == BLOB_NEVER || at <= p->entry) && !javaunwind_load(s, s->sp, &ip))
		return UNWIND_STACK_CUT;
	return may_return_to(c, ip) ? javaunwind_arrive(s, ip, sender_sp(s, s->sp + 8), rbp_if_known(s)) :
				      UNWIND_NO_CODE;
}

static enum unwind_end step_bytecode(struct unwind_state *s, const struct javaunwind_code *c, const struct code_blob *p,
				     struct javaunwind_frame *f)
{
	struct javaframe_exit e;

	return s->interrupted && javaframe_exit(c, p, s->ip, &e) ? step_exit(s, c, &e) : step_interpreted(s, c, f);
}

/* ------------------------------------------------------------------------------------------------------------------ */

enum unwind_end javaunwind_step(struct unwind_state *s, const struct javaunwind_code *c, const struct code_blob *p,
				struct javaunwind_frame *f)
{
	*f = (struct javaunwind_frame){ .address = s->ip, .exact = s->interrupted };
	if (!s->interrupted && s->ip == c->call_stub_return)
		return step_call_stub(s, c);
	switch ((enum blob_kind)p->kind) {
	case BLOB_COMPILED:
	case BLOB_NATIVE: return step_compiled(s, c, p, f);
	case BLOB_STUB: return step_stub(s, c, p);
	case BLOB_PUSHED: return step_pushed(s, c, p);
	case BLOB_LEAF: return step_leaf(s, c, p);
	case BLOB_ADAPTER: return step_adapter(s, c, p);
	case BLOB_ENTRY: return step_entry(s, c, p, f);
	case BLOB_BYTECODE: return step_bytecode(s, c, p, f);
	case BLOB_THAW: return step_thaw(s, c, p, f);
	}
	return UNWIND_NO_CODE;
}
