/* SPDX-License-Identifier: Apache-2.0 */
/* Finds frames in a copy. References: vm_push_frame of vm_insnhelper.c; flags in vm_core.h. */
#include "runtimes/ruby/rubylayout.h"

/* BESIDE_ENVIRONMENT: number of bytes before and after an environment on the heap that are copied with it.
 * STACK_WORDS_MAX: maximum size of a VM stack in words of 8 bytes (2 GB); a larger one is impossible. */
#define BESIDE_ENVIRONMENT 512u
#define STACK_WORDS_MAX (UINT64_C(1) << 28)
/* maximum number of parent environments that are followed for one frame; beyond it the scope of the frame is unknown */
#define PARENTS_MAX 64u
/* maximum number of parent environments that are followed for one stack; beyond it ruby_code follows them in live
 * memory */
#define PARENTS_OF_STACK 16384u

/* Kinds of frames: the bits EP_KIND_MASK of the flags. */
enum {
	KIND_METHOD = 0x11110001,
	KIND_BLOCK = 0x22220001,
	KIND_CLASS = 0x33330001,
	KIND_TOP = 0x44440001,
	KIND_CFUNC = 0x55550001,
	KIND_IFUNC = 0x66660001,
	KIND_EVAL = 0x77770001,
	KIND_RESCUE = 0x78880001,
	KIND_DUMMY = 0x79990001
};

void ruby_plan(const struct ruby_layout *layout, struct threadplan *plan)
{
	*plan = (struct threadplan){
		.root_bytes = 8,
		.nhops = 2,
		.hop = { 0, EC_FRAME },
		.before = BESIDE_ENVIRONMENT,
		.after = BESIDE_ENVIRONMENT,
		.frame_bytes = layout->frame_bytes,
		.next = FRAME_EP,
		.mask = ~(uint64_t)0,
		.frames = RUBY_FRAMES_MAX,
		.array = { .bytes = EC_BYTES, .start = EC_STACK, .words = EC_WORDS, .link_before = EP_BYTES_BEFORE },
	};
}

struct rubyview {
	const struct ruby_layout *layout;
	struct threadcopy_view copied;
	uint32_t parents;    /* number of parent environments that were followed */
	uint64_t start, end; /* bounds of the VM stack */
};

/* Returns the words ep[-2], ep[-1] and ep[0], or NULL if the copy does not contain them. */
static const char *rubyview_environment(struct rubyview *view, uint64_t ep)
{
	return rubylayout_is_address(ep) ? threadcopy_bytes(&view->copied, ep - EP_BYTES_BEFORE, EP_BYTES_BEFORE + 8) :
					   NULL;
}

/* Sets stack->low and stack->high to the bounds of the native stack, by the bytes of an execution context. */
static void rubyview_native(const struct ruby_layout *layout, const char *bytes, struct ruby_stack *stack)
{
	uint64_t start = rubylayout_word(bytes, layout->machine + MACHINE_START);
	uint64_t size = rubylayout_word(bytes, layout->machine + MACHINE_SIZE);

	if (size == 0 || size > start)
		return;
	stack->low = start - size;
	stack->high = start;
}

/* Sets the bounds of the VM stack, and *frame to the innermost frame. Returns RUBY_COMPLETE if there is a frame,
 * otherwise the reason why there is none. */
static enum ruby_end rubyview_innermost(struct rubyview *view, struct ruby_stack *stack, uint64_t *frame)
{
	const char *bytes = threadcopy_bytes(&view->copied, view->copied.copy->root, 8);
	uint64_t ec, words;

	if (!bytes)
		return RUBY_TRUNCATED;
	ec = rubylayout_word(bytes, 0);
	if (!ec)
		return RUBY_NO_FRAME;
	if (!rubylayout_is_address(ec))
		return RUBY_IMPOSSIBLE;
	bytes = threadcopy_bytes(&view->copied, ec, EC_BYTES);
	if (!bytes)
		return RUBY_TRUNCATED;
	rubyview_native(view->layout, bytes, stack);
	stack->tag = rubylayout_word(bytes, EC_TAG);
	view->start = rubylayout_word(bytes, EC_STACK);
	words = rubylayout_word(bytes, EC_WORDS);
	*frame = rubylayout_word(bytes, EC_FRAME);
	if (!view->start || !*frame)
		return RUBY_NO_FRAME;
	if (!rubylayout_is_address(view->start) || !rubylayout_is_address(*frame) || words == 0 ||
	    words > STACK_WORDS_MAX)
		return RUBY_IMPOSSIBLE;
	view->end = view->start + 8 * words;
	/* a thread's VM stack is a local variable of the function that starts the thread: the native frames that run
	 * Ruby code lie below this variable */
	if (view->start > stack->low && view->start < stack->high)
		stack->high = view->start;
	if (*frame < view->start || *frame > view->end || (view->end - *frame) % view->layout->frame_bytes != 0)
		return RUBY_IMPOSSIBLE;
	return *frame == view->end ? RUBY_NO_FRAME : RUBY_COMPLETE;
}

/* Returns the method entry or class reference of the method to which an environment belongs. If the copy
 * lacks an environment on the way, or the stack has used up PARENTS_OF_STACK, returns the address + 1 of the
 * environment that was reached. Returns 0 beyond PARENTS_MAX. */
static uint64_t scope_of(struct rubyview *view, uint64_t ep)
{
	for (unsigned i = 0; i < PARENTS_MAX; i++) {
		const char *bytes = view->parents < PARENTS_OF_STACK ? rubyview_environment(view, ep) : NULL;

		if (!bytes)
			return ep | 1;
		view->parents++;
		if (rubylayout_word(bytes, 16) & EP_LOCAL)
			return rubylayout_word(bytes, 0) & ~(uint64_t)7;
		ep = rubylayout_word(bytes, 8) & ~(uint64_t)3;
	}
	return 0;
}

enum frame_kind { FRAME_OF_RUBY, FRAME_OF_C, FRAME_HIDDEN, FRAME_OUTERMOST, FRAME_IMPOSSIBLE };

static enum frame_kind rubyframe_kind(uint64_t flags)
{
	switch (flags & EP_KIND_MASK) {
	case KIND_METHOD:
	case KIND_BLOCK:
	case KIND_CLASS:
	case KIND_TOP:
	case KIND_EVAL:
	case KIND_RESCUE: return flags & EP_CFRAME ? FRAME_IMPOSSIBLE : FRAME_OF_RUBY;
	case KIND_CFUNC: return flags & EP_CFRAME ? FRAME_OF_C : FRAME_IMPOSSIBLE;
	case KIND_IFUNC: return flags & EP_CFRAME ? FRAME_HIDDEN : FRAME_IMPOSSIBLE;
	case KIND_DUMMY: return FRAME_OUTERMOST;
	default: return FRAME_IMPOSSIBLE;
	}
}

/* Sets *frame from the bytes of a control frame and the words of its environment. Returns its kind. */
static enum frame_kind rubyframe_read(struct rubyview *view, const char *bytes, const char *words,
				      struct ruby_frame *frame)
{
	uint64_t flags = rubylayout_word(words, 16);
	enum frame_kind kind = rubyframe_kind(flags);

	frame->entry = flags & EP_FINISH;
	frame->pc = rubylayout_word(bytes, FRAME_PC);
	frame->code = rubylayout_word(bytes, FRAME_ISEQ);
	if (kind == FRAME_OF_RUBY) {
		frame->kind = RUBY_METHOD;
		frame->scope = scope_of(view, rubylayout_word(bytes, FRAME_EP));
		/* Code of YJIT enters a method without storing its pc, so the innermost frame may have any number. */
		return ((frame->innermost && view->layout->yjit) || rubylayout_is_address(frame->pc)) &&
				       rubylayout_is_address(frame->code) ?
			       kind :
			       FRAME_IMPOSSIBLE;
	}
	if (kind == FRAME_OF_C) {
		frame->kind = RUBY_CFUNCTION;
		/* code of YJIT does not clear the pc of a C function's frame, so the word may be stale */
		if (view->layout->yjit)
			frame->pc = 0;
		if (frame->pc || frame->code)
			return FRAME_IMPOSSIBLE;
		frame->code = frame->scope = rubylayout_word(words, 0);
		return rubylayout_is_address(frame->code) ? kind : FRAME_IMPOSSIBLE;
	}
	return kind;
}

enum ruby_end ruby_frames(const struct ruby_layout *layout, const struct threadcopy *copy, struct ruby_stack *stack)
{
	struct rubyview view = { .layout = layout, .copied = threadcopy_view_of(copy) };
	uint64_t at = 0, innermost;
	enum ruby_end end;

	stack->n = 0;
	stack->low = stack->high = stack->tag = 0;
	end = rubyview_innermost(&view, stack, &at);
	if (end != RUBY_COMPLETE)
		return end;
	innermost = at;
	for (; at < view.end; at += layout->frame_bytes) {
		struct ruby_frame *frame = &stack->frame[stack->n];
		const char *bytes = threadcopy_bytes(&view.copied, at, layout->frame_bytes), *words;

		words = bytes ? rubyview_environment(&view, rubylayout_word(bytes, FRAME_EP)) : NULL;
		if (!words || stack->n == RUBY_FRAMES_MAX)
			return RUBY_TRUNCATED;
		*frame = (struct ruby_frame){ .frame = at, .innermost = at == innermost };
		switch (rubyframe_read(&view, bytes, words, frame)) {
		case FRAME_OF_RUBY:
		case FRAME_OF_C: stack->n++; break;
		case FRAME_HIDDEN:
			if (frame->entry)
				return RUBY_IMPOSSIBLE;
			break;
		case FRAME_OUTERMOST:
			if (at + layout->frame_bytes != view.end)
				return RUBY_IMPOSSIBLE;
			return stack->n ? RUBY_COMPLETE : RUBY_NO_FRAME;
		case FRAME_IMPOSSIBLE: return RUBY_IMPOSSIBLE;
		}
	}
	return RUBY_IMPOSSIBLE;
}
