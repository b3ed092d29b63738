/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds frames in a copy. cop.h has the contexts; pp_ctl.c, pp_hot.c, pp_sort.c and perl.c push them.
 *
 * An activation of the run loop ends with the context whose return op (CONTEXT_RETURN) is 0. call_sv pushes a sub with
 * return op 0, eval_sv an eval; sort and MULTICALL (first of List::Util) push one context for all their calls. An eval
 * block with return op 0 belongs to native code: call_sv pushes it around a sub, and it runs nothing itself.
 *
 * The array contains a context before Perl fills it, and still after the context's code has ended, so the innermost
 * context may hold stale bytes. The stackinfo has the index of its innermost sub, format or eval (STACKINFO_LAST_SUB):
 * Perl sets this index while it fills that context, and resets it before it removes the context. A context of these
 * types beyond the index is therefore skipped.
 *
 * While the index is set but the sub does not run yet, or no longer, the current variables (PL_comppad) are those that
 * the context stores as its caller's. If they differ, a sub that has reached a statement runs: the current variables
 * are its own, those of a closure that it makes (pad_new), or none while the last closure is freed (cv_undef). A sub
 * that has not reached a statement must be proven: the current variables must be its own.
 *
 * Between two calls of sort or MULTICALL, their context exists without an activation. The current op is 0 then: the run
 * loop leaves it 0 when it ends.
 *
 * If the last op of a block of sort or defer, or of code in a regular expression, calls a sub, the sub's return op is
 * 0, too: the op has no successor. This sub is the next context, and runs in the block's activation. A sub that native
 * code calls there has an activation of its own: native code enters a scope before the call (perlcall). If native code
 * enters none, the number of activations in the native stack contradicts the frames.
 */
#include "runtimes/perl/perllayout.h"

/* Number of bytes before and after the start of a stackinfo that one read copies. */
#define BELOW_STACKINFO 0u
#define ABOVE_STACKINFO 64u

#define ROOT_BYTES 512u
#define STACKINFOS_MAX 4096u
#define CONTEXTS_MAX 65536u
#define CONTEXTS_ALLOCATED (1 << 24)

void perl_plan(const struct perl_layout *layout, struct threadplan *plan)
{
	*plan = (struct threadplan){
		.root_bytes = ROOT_BYTES,
		.nhops = 1,
		.hop = { layout->stackinfo },
		.before = BELOW_STACKINFO,
		.after = ABOVE_STACKINFO,
		.frame_bytes = STACKINFO_BYTES,
		.next = STACKINFO_PREVIOUS,
		.mask = ~(uint64_t)0,
		.frames = STACKINFOS_MAX,
		.object = STACKINFO_CONTEXTS,
		.object_bytes = CONTEXT_BYTES,
		.objects = 1,
		.object_last = STACKINFO_LAST,
	};
}

struct perlwalk {
	struct threadcopy_view copied;
	struct perl_stack *stack;
	uint64_t cop;      /* COP of the frame that is appended next; 0: unknown */
	uint32_t contexts; /* number of contexts read so far */
	/* Saved values in the context of the innermost frame: COP and variables of its caller, and recursion depth
	 * of the sub before the call. */
	uint64_t old_cop, old_pad;
	uint32_t old_depth;
	bool skipped; /* true if the innermost context was skipped */
	bool regexp;  /* true if the innermost frame is a sub for code in a regular expression (CONTEXT_REGEXP) */
};

/* Members of one stackinfo. */
struct perlstackinfo {
	uint64_t address, contexts, previous;
	int32_t last, last_sub;
	/* type of the outermost context (low 4 bits of its first byte), set by walk_contexts; valid if `last` is not -1
	 */
	uint32_t first_type;
};

static bool read_stackinfo(struct perlwalk *walk, uint64_t address, struct perlstackinfo *info, enum perl_end *end)
{
	const char *bytes = threadcopy_bytes(&walk->copied, address, STACKINFO_BYTES);
	int32_t max, type;

	*end = PERL_TRUNCATED;
	if (!bytes)
		return false;
	*info = (struct perlstackinfo){ .address = address,
					.contexts = perllayout_word(bytes, STACKINFO_CONTEXTS),
					.previous = perllayout_word(bytes, STACKINFO_PREVIOUS),
					.last = (int32_t)perllayout_half(bytes, STACKINFO_LAST),
					.last_sub = (int32_t)perllayout_half(bytes, STACKINFO_LAST_SUB) };
	max = (int32_t)perllayout_half(bytes, STACKINFO_MAX);
	type = (int32_t)perllayout_half(bytes, STACKINFO_TYPE);
	*end = PERL_IMPOSSIBLE;
	return perllayout_is_address(info->contexts) && info->last >= -1 && info->last <= max && info->last_sub >= -1 &&
	       info->last_sub <= info->last && max < CONTEXTS_ALLOCATED &&
	       (info->previous ? perllayout_is_address(info->previous) : type == STACKINFO_IS_MAIN);
}

/* Returns the bytes of context i of a stackinfo, or NULL if the copy does not contain them. */
static const char *context_bytes(struct perlwalk *walk, const struct perlstackinfo *info, int32_t i)
{
	return threadcopy_bytes(&walk->copied, info->contexts + (uint64_t)i * CONTEXT_BYTES, CONTEXT_BYTES);
}

enum perlcontext { PERLCONTEXT_SHOWN, PERLCONTEXT_HIDDEN, PERLCONTEXT_WRONG };

/* Returns true if context i runs in the activation of the context before it: the block of a sort, code in a regular
 * expression, or a defer block. Native code that calls a sub in such a block enters a scope before, so the scope
 * depth differs. */
static bool is_in_block(struct perlwalk *walk, const struct perlstackinfo *info, int32_t i, const char *bytes)
{
	const char *outer = i > 0 ? context_bytes(walk, info, i - 1) : NULL;
	unsigned type = outer ? (unsigned char)outer[CONTEXT_TYPE] : CONTEXT_BLOCK;
	int64_t scopes;

	if (!outer)
		return false;
	scopes = (int64_t)perllayout_half(bytes, CONTEXT_OLD_SCOPES) - perllayout_half(outer, CONTEXT_OLD_SCOPES);
	switch (type & CONTEXT_TYPE_MASK) {
	case CONTEXT_NULL: return scopes <= 0;
	case CONTEXT_DEFER: return scopes <= 1; /* a defer block enters its own scope after its context is pushed */
	case CONTEXT_SUB: return (type & CONTEXT_REGEXP_FAKE) && scopes <= 0;
	default: return false;
	}
}

static enum perlcontext read_sub(const char *bytes, unsigned type, struct perl_frame *frame)
{
	frame->repeated = type & CONTEXT_MULTICALL;
	if ((type & CONTEXT_TYPE_MASK) == CONTEXT_SUB && (type & CONTEXT_REGEXP_FAKE)) {
		frame->kind = PERL_REGEXP;
		return PERLCONTEXT_SHOWN;
	}
	frame->kind = PERL_SUB;
	frame->code = perllayout_word(bytes, CONTEXT_CODE);
	return perllayout_is_address(frame->code) || frame->code == 0 ? PERLCONTEXT_SHOWN : PERLCONTEXT_WRONG;
}

/* Sets kind and code of *frame for an eval. Returns PERLCONTEXT_HIDDEN for a try block, and for an eval block with
 * return op 0: that belongs to native code and runs nothing itself. */
static enum perlcontext read_eval(const char *bytes, unsigned type, struct perl_frame *frame)
{
	frame->kind = PERL_EVAL;
	if (type & (CONTEXT_EVAL_BLOCK | CONTEXT_EVAL_TRY))
		return (type & CONTEXT_EVAL_TRY) || frame->entry ? PERLCONTEXT_HIDDEN : PERLCONTEXT_SHOWN;
	frame->code = perllayout_word(bytes, CONTEXT_FILE);
	if (frame->code)
		frame->kind = PERL_REQUIRE;
	return frame->code && !perllayout_is_address(frame->code) ? PERLCONTEXT_WRONG : PERLCONTEXT_SHOWN;
}

/* Returns true if STACKINFO_LAST_SUB may be the index of this context: a sub, format or eval, but not a try block. */
static bool is_indexed(const char *bytes)
{
	unsigned type = (unsigned char)bytes[CONTEXT_TYPE];

	switch (type & CONTEXT_TYPE_MASK) {
	case CONTEXT_SUB:
	case CONTEXT_FORMAT: return true;
	case CONTEXT_EVAL: return !(type & CONTEXT_EVAL_TRY);
	default: return false;
	}
}

/* Sets kind, code and flags of *frame by the bytes of a context. On entry, frame->entry is false if the context runs
 * in the activation of another one. Returns whether the frame is shown, hidden or invalid. */
static enum perlcontext read_context(const char *bytes, struct perl_frame *frame)
{
	unsigned type = (unsigned char)bytes[CONTEXT_TYPE];

	frame->entry = frame->entry && perllayout_word(bytes, CONTEXT_RETURN) == 0;
	switch (type & CONTEXT_TYPE_MASK) {
	case CONTEXT_SUB:
	case CONTEXT_FORMAT: return read_sub(bytes, type, frame);
	case CONTEXT_EVAL: return read_eval(bytes, type, frame);
	case CONTEXT_NULL:
		frame->kind = PERL_SORT;
		frame->entry = frame->repeated = true;
		return PERLCONTEXT_SHOWN;
	case CONTEXT_DEFER:
		frame->kind = PERL_DEFER;
		frame->entry = true;
		return PERLCONTEXT_SHOWN;
	default: return (type & CONTEXT_TYPE_MASK) > CONTEXT_DEFER ? PERLCONTEXT_WRONG : PERLCONTEXT_HIDDEN;
	}
}

/* Skips the innermost context, which is not filled yet or has ended. The current COP is taken as the COP of its caller
 * only if the context stores the same COP; otherwise the caller's COP becomes unknown (0). Returns false if the context
 * is not the innermost: that is impossible. */
static bool skip_context(struct perlwalk *walk, const char *bytes)
{
	if (walk->stack->n || walk->skipped)
		return false;
	walk->skipped = true;
	if (perllayout_word(bytes, CONTEXT_OLD_COP) != walk->cop)
		walk->cop = 0;
	return true;
}

/* Appends a frame that runs walk->cop. bytes: its context; NULL for PERL_MAIN. Returns false if the stack is full. */
static bool put_frame(struct perlwalk *walk, const struct perl_frame *frame, const char *bytes)
{
	struct perl_stack *stack = walk->stack;

	if (stack->n == PERL_FRAMES_MAX)
		return false;
	if (stack->n == 0 && bytes) {
		walk->old_cop = perllayout_word(bytes, CONTEXT_OLD_COP);
		walk->old_pad = perllayout_word(bytes, CONTEXT_OLD_PAD);
		walk->old_depth = perllayout_half(bytes, CONTEXT_OLD_DEPTH);
		walk->regexp = frame->kind == PERL_SUB && ((unsigned char)bytes[CONTEXT_TYPE] & CONTEXT_REGEXP);
	}
	stack->frame[stack->n] = *frame;
	stack->frame[stack->n++].cop = walk->cop;
	return true;
}

/* Appends the frames of a stackinfo, innermost first. Returns PERL_COMPLETE, or the reason why frames are missing. */
static enum perl_end walk_contexts(struct perlwalk *walk, struct perlstackinfo *info)
{
	for (int32_t i = info->last; i >= 0; i--) {
		const char *bytes = context_bytes(walk, info, i);
		struct perl_frame frame = { .context = info->contexts + (uint64_t)i * CONTEXT_BYTES,
					    .entry = bytes && !is_in_block(walk, info, i, bytes) };
		enum perlcontext kind;

		if (!bytes || ++walk->contexts > CONTEXTS_MAX)
			return PERL_TRUNCATED;
		info->first_type = (unsigned char)bytes[CONTEXT_TYPE] & CONTEXT_TYPE_MASK;
		if (is_indexed(bytes) && i > info->last_sub) {
			if (i != info->last || !skip_context(walk, bytes))
				return PERL_IMPOSSIBLE;
			continue;
		}
		kind = read_context(bytes, &frame);
		/* only the innermost sub may lack a CV: it does not run (drop_unfinished) */
		if (kind == PERLCONTEXT_WRONG || (frame.kind == PERL_SUB && !frame.code && walk->stack->n))
			return PERL_IMPOSSIBLE;
		if (kind == PERLCONTEXT_HIDDEN)
			continue;
		if (!put_frame(walk, &frame, bytes))
			return PERL_TRUNCATED;
		walk->cop = perllayout_word(bytes, CONTEXT_OLD_COP);
	}
	return PERL_COMPLETE;
}

/* Appends the main program, if its block is the outermost context. There is no main program if native code calls a sub
 * while no program runs (BEGIN and END blocks, mod_perl). Returns PERL_TRUNCATED if the stack is full, otherwise
 * PERL_COMPLETE. */
static enum perl_end put_main(struct perlwalk *walk, const struct perlstackinfo *info)
{
	const struct perl_frame frame = { .context = info->address, .entry = true, .kind = PERL_MAIN };

	if (info->last < 0 || info->first_type != CONTEXT_BLOCK)
		return PERL_COMPLETE;
	return put_frame(walk, &frame, NULL) ? PERL_COMPLETE : PERL_TRUNCATED;
}

/* Sets the COP of the innermost frame to 0 if it is still the COP of the caller: the sub or file has not reached a
 * statement yet. */
static void drop_early_cop(struct perlwalk *walk, uint64_t cop)
{
	struct perl_stack *stack = walk->stack;

	if (stack->n > 1 && stack->frame[1].cop == cop &&
	    (stack->frame[0].kind == PERL_SUB || stack->frame[0].kind == PERL_REQUIRE))
		stack->frame[0].cop = 0;
}

enum perlrun { PERLRUN_RUNS, PERLRUN_ENDED, PERLRUN_UNKNOWN };

/* Returns PERLRUN_RUNS if the innermost frame, a sub, runs; PERLRUN_ENDED if it does not run yet, or no
 * longer; PERLRUN_UNKNOWN if neither is proven. pad, cop:
 * current variables and COP of the interpreter. Live memory can prove only that the sub runs: its CV may be freed by
 * now. */
static enum perlrun sub_runs(const struct perl *perl, const struct perlwalk *walk, uint64_t pad, uint64_t cop)
{
	const struct perl_frame *frame = &walk->stack->frame[0];

	if (!frame->code)
		return PERLRUN_ENDED;
	if (pad == walk->old_pad)
		return pad ? PERLRUN_ENDED : PERLRUN_UNKNOWN;
	if (cop != walk->old_cop)
		return PERLRUN_RUNS;
	return perlcv_has_pad(perl, frame->code, walk->old_depth, pad) ? PERLRUN_RUNS : PERLRUN_UNKNOWN;
}

/* Drops the innermost frame if it is a sub that does not run yet, or no longer. The COP of the caller then stays
 * only if it equals the current COP; otherwise it becomes 0. Returns PERL_IMPOSSIBLE if it is unknown whether the sub
 * runs, otherwise PERL_COMPLETE. */
static enum perl_end drop_unfinished(const struct perl *perl, struct perlwalk *walk, uint64_t pad, uint64_t cop)
{
	struct perl_stack *stack = walk->stack;

	if (stack->n == 0 || stack->frame[0].kind != PERL_SUB)
		return PERL_COMPLETE;
	switch (sub_runs(perl, walk, pad, cop)) {
	case PERLRUN_RUNS:
		stack->pad = pad;
		stack->depth = walk->old_depth;
		return PERL_COMPLETE;
	case PERLRUN_UNKNOWN: return PERL_IMPOSSIBLE;
	default: break;
	}
	walk->regexp = false;
	stack->n--;
	memmove(&stack->frame[0], &stack->frame[1], stack->n * sizeof(stack->frame[0]));
	if (stack->n && stack->frame[0].cop != cop)
		stack->frame[0].cop = 0;
	return PERL_COMPLETE;
}

enum perl_end perl_frames(const struct perl *perl, const struct threadcopy *copy, struct perl_stack *stack)
{
	const struct perl_layout *layout = &perl->layout;
	struct perlwalk walk = { .copied = threadcopy_view_of(copy), .stack = stack };
	const char *root = threadcopy_bytes(&walk.copied, copy->root, ROOT_BYTES);
	enum perl_end end = PERL_COMPLETE;
	uint64_t at = root ? perllayout_word(root, layout->stackinfo) : 0;

	stack->n = stack->depth = 0;
	stack->pad = 0;
	if (!root)
		return PERL_TRUNCATED;
	walk.cop = perllayout_word(root, layout->cop);
	for (unsigned steps = 0; end == PERL_COMPLETE && at; steps++) {
		struct perlstackinfo info;

		if (!perllayout_is_address(at))
			return PERL_IMPOSSIBLE;
		if (steps == STACKINFOS_MAX)
			return PERL_TRUNCATED;
		if (!read_stackinfo(&walk, at, &info, &end))
			return end;
		end = walk_contexts(&walk, &info);
		at = info.previous;
		if (end == PERL_COMPLETE && !at)
			end = put_main(&walk, &info);
	}
	if (end != PERL_IMPOSSIBLE && drop_unfinished(perl, &walk, perllayout_word(root, layout->pad),
						      perllayout_word(root, layout->cop)) == PERL_IMPOSSIBLE)
		return PERL_IMPOSSIBLE;
	drop_early_cop(&walk, perllayout_word(root, layout->cop));
	/* A match that has run code keeps the context of that code until the match ends; between two runs the current
	 * op is not 0, but the match. So a frame for code in a regular expression may always be between two runs. */
	stack->frame[0].between =
		stack->n && stack->frame[0].entry && stack->frame[0].repeated &&
		(perllayout_word(root, INTERPRETER_OP) == 0 || stack->frame[0].kind == PERL_REGEXP || walk.regexp);
	return end;
}
