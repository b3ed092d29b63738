/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames in a copy. cop.h has the contexts; pp_ctl.c, pp_hot.c, pp_sort.c and perl.c push them.
 *
 * A run loop ends with the context that has no op to continue with: call_sv pushes such a sub, eval_sv such an eval,
 * sort and MULTICALL (List::Util's first) such a context for all of their calls. An eval block of that kind is native
 * code's: call_sv has it around a sub, and it runs nothing itself.
 *
 * A context is in the array before it is filled, and after its code has ended: at its index may be what an earlier one
 * has left. The stackinfo has the index of its innermost sub, format or eval: it is set while that is filled, and reset
 * before it is removed. So no such context further in counts.
 *
 * Between that and the removal, the current variables (PL_comppad) are still, or again, those that the context has as
 * its caller's: the sub does not run. If they are any others, a sub that has reached a statement runs: they are its
 * own, those of a closure that it makes (pad_new), or none, as the last closure is freed (cv_undef). One that has not
 * is proven by its own variables alone.
 *
 * Between two of these calls, the context is there without an activation. Then no op is the current one: the run loop
 * leaves it 0 at its end.
 *
 * The last op of such a block (of a sort, a regular expression, a defer) has no successor either. A sub that it calls
 * is the next context, and runs in the block's activation. One that native code calls there has an activation of its
 * own: such code enters a scope before (perlcall). Where it does not, the numbers of activations contradict.
 */
#include "runtimes/perl/perllayout.h"

/* Bytes around a stackinfo that one read copies. */
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
	uint64_t cop;      /* that the next frame runs */
	uint32_t contexts; /* number of those that were read */
	/* of the context of the innermost frame: caller's COP and variables, and depth of the caller's recursion */
	uint64_t old_cop, old_pad;
	uint32_t old_depth;
	bool skipped; /* an innermost context does not count */
	bool regexp;  /* the innermost frame is a sub that is code in a regular expression */
};

/* One stackinfo. */
struct perlstackinfo {
	uint64_t address, contexts, previous;
	int32_t last, last_sub;
	uint32_t first_type; /* first byte of its outermost context, if that is known to exist */
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

/* Returns the bytes of a context, or NULL. */
static const char *context_bytes(struct perlwalk *walk, const struct perlstackinfo *info, int32_t i)
{
	return threadcopy_bytes(&walk->copied, info->contexts + (uint64_t)i * CONTEXT_BYTES, CONTEXT_BYTES);
}

enum perlcontext { PERLCONTEXT_SHOWN, PERLCONTEXT_HIDDEN, PERLCONTEXT_WRONG };

/* Returns true if the context at index i runs in the activation of the one before it, that of a sort's block, of code
 * in a regular expression, or of a defer block: native code that calls it has entered no scope of its own. */
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
	case CONTEXT_DEFER: return scopes <= 1; /* its own scope is entered behind the push */
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

/* An eval block without an op to continue with is that of native code: it runs nothing itself. */
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

/* Returns true for a context whose index the stackinfo has while it counts: a sub, format or eval; a try has none. */
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

/* Sets *frame to the context with these bytes. frame->entry is true if it may be an entry frame by its place. */
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

/* Skips a context that does not count. Its caller's COP is known if the context has it, too. Returns false if others
 * run in it: that is impossible. */
static bool skip_context(struct perlwalk *walk, const char *bytes)
{
	if (walk->stack->n || walk->skipped)
		return false;
	walk->skipped = true;
	if (perllayout_word(bytes, CONTEXT_OLD_COP) != walk->cop)
		walk->cop = 0;
	return true;
}

/* Appends a frame, which runs the current COP. Returns false if there are too many. */
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

/* Appends the frames of a stackinfo. */
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
		/* the innermost sub alone may be without a CV: it does not run (drop_unfinished) */
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

/* Appends the main program, if its block is the outermost context. Native code that calls a sub while no program runs
 * (a BEGIN or END block, mod_perl) has none. */
static enum perl_end put_main(struct perlwalk *walk, const struct perlstackinfo *info)
{
	const struct perl_frame frame = { .context = info->address, .entry = true, .kind = PERL_MAIN };

	if (info->last < 0 || info->first_type != CONTEXT_BLOCK)
		return PERL_COMPLETE;
	return put_frame(walk, &frame, NULL) ? PERL_COMPLETE : PERL_TRUNCATED;
}

/* The innermost frame has not reached a COP of its own while the current one is still its caller's. */
static void drop_early_cop(struct perlwalk *walk, uint64_t cop)
{
	struct perl_stack *stack = walk->stack;

	if (stack->n > 1 && stack->frame[1].cop == cop &&
	    (stack->frame[0].kind == PERL_SUB || stack->frame[0].kind == PERL_REQUIRE))
		stack->frame[0].cop = 0;
}

enum perlrun { PERLRUN_RUNS, PERLRUN_ENDED, PERLRUN_UNKNOWN };

/* Decides whether the innermost frame, a sub, runs. A live read can only prove it: the CV may be freed by now. */
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

/* Drops the innermost frame if it is a sub that does not run yet, or no longer. The caller's COP is known then only if
 * the context has it, too. */
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
	/* a match that has run code in it has that context to its end, and its own op is the current one */
	stack->frame[0].between =
		stack->n && stack->frame[0].entry && stack->frame[0].repeated &&
		(perllayout_word(root, INTERPRETER_OP) == 0 || stack->frame[0].kind == PERL_REGEXP || walk.regexp);
	return end;
}
