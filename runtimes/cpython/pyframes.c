/* SPDX-License-Identifier: Apache-2.0 */
/* Finds frames in a copy. Source of the pointers that lead to them: ceval.c and pycore_frame.h of each version of
 * CPython. */
#include "runtimes/cpython/pylayout.h"

/* ROOT_BYTES: number of bytes of a thread state that contain the frame pointer and the thread ids in all versions.
 * ADDRESS_MAX: end of user addresses; a pointer at or above it is impossible. */
#define ROOT_BYTES 256u
#define ADDRESS_MAX ((uint64_t)1 << 47)

/* Number of bytes before and after the start of a frame that one read copies. A caller lies below its callee in a
 * chunk of 16 kB; but since 3.12, frames that mark an entry from C lie in the native stack, above their callee.
 * Before 3.11, frame objects are on the heap, often near each other. */
#define BELOW_STACK_FRAME 7680u
#define ABOVE_STACK_FRAME 4096u
#define BESIDE_OBJECT 4096u

/* Owners of frames that mark an entry from C and have no function: 3 in 3.12 and 3.13; 3 and 4 since 3.14. */
#define OWNER_FIRST_SHIM 3u
#define OWNER_LAST 4u

void cpython_plan(const struct cpython_layout *layout, struct threadplan *plan)
{
	bool objects = layout->version < 11;

	*plan = (struct threadplan){
		.root_bytes = ROOT_BYTES,
		.nhops = 1,
		.hop = { layout->thread.frame },
		.before = objects ? BESIDE_OBJECT : BELOW_STACK_FRAME,
		.after = objects ? BESIDE_OBJECT : ABOVE_STACK_FRAME,
		.frame_bytes = layout->frame.bytes,
		.next = layout->frame.previous,
		.mask = ~(uint64_t)0,
		.frames = CPYTHON_FRAMES_MAX,
	};
	/* before 3.11, each frame needs a read of its own, so code objects are not copied */
	if (!objects) {
		plan->object = layout->frame.code;
		/* 8 bytes more, because a tag in the pointer moves the start of the copy by up to 7 bytes */
		plan->object_bytes = layout->code.lines + 2 * (uint32_t)sizeof(uint64_t);
	}
	if (layout->thread.cframe != CPYTHON_NO_FIELD)
		plan->hop[plan->nhops++] = layout->thread.cframe;
}

static bool is_address(uint64_t value)
{
	return value % 8 == 0 && value >= 4096 && value < ADDRESS_MAX;
}

/* Sets *frame to the address of the thread's innermost frame. Returns CPYTHON_COMPLETE on success, CPYTHON_NO_FRAME if
 * the thread has no frame, otherwise the reason why the frame is not found. */
static enum cpython_end innermost(const struct cpython_layout *layout, struct threadcopy_view *view, uint64_t *frame)
{
	const char *bytes = threadcopy_bytes(view, view->copy->root + layout->thread.frame, 8);

	if (!bytes)
		return CPYTHON_TRUNCATED;
	*frame = pylayout_word(bytes, 0);
	if (layout->thread.cframe != CPYTHON_NO_FIELD && *frame) {
		if (!is_address(*frame))
			return CPYTHON_IMPOSSIBLE;
		bytes = threadcopy_bytes(view, *frame + layout->thread.cframe, 8);
		if (!bytes)
			return CPYTHON_TRUNCATED;
		*frame = pylayout_word(bytes, 0);
	}
	return *frame ? CPYTHON_COMPLETE : CPYTHON_NO_FRAME;
}

/* Result of reading one frame. FRAME_OF_ENTRY: the frame only marks an entry from C. */
enum frame_kind { FRAME_OF_FUNCTION, FRAME_OF_ENTRY, FRAME_IMPOSSIBLE };

static void read_instruction(const struct cpython_layout *layout, const char *bytes, struct cpython_frame *frame)
{
	int32_t index;

	if (layout->version >= 11) {
		frame->instruction = pylayout_word(bytes, layout->frame.instruction);
		return;
	}
	/* f_lasti is -1 before the first instruction. In 3.10 it counts code units of 2 bytes. */
	memcpy(&index, bytes + layout->frame.instruction, sizeof(index));
	frame->instruction = (uint64_t)((int64_t)index * (layout->version == 10 && index > 0 ? 2 : 1));
}

static enum frame_kind read_frame(const struct cpython_layout *layout, const char *bytes, struct cpython_frame *frame)
{
	bool owned = layout->frame.owner != CPYTHON_NO_FIELD;
	unsigned owner = owned ? (unsigned char)bytes[layout->frame.owner] : CPYTHON_OWNED_BY_OBJECT;

	if (owner >= OWNER_FIRST_SHIM && layout->version >= 12)
		return owner <= (layout->version >= 14 ? OWNER_LAST : OWNER_FIRST_SHIM) ? FRAME_OF_ENTRY :
											  FRAME_IMPOSSIBLE;
	frame->owner = (uint8_t)owner;
	frame->entry = !owned;
	if (layout->frame.is_entry != CPYTHON_NO_FIELD) {
		if ((unsigned char)bytes[layout->frame.is_entry] > 1)
			return FRAME_IMPOSSIBLE;
		frame->entry = bytes[layout->frame.is_entry] != 0;
	}
	frame->code = pylayout_word(bytes, layout->frame.code) & ~(uint64_t)layout->frame.tag;
	frame->globals = pylayout_word(bytes, layout->frame.globals);
	read_instruction(layout, bytes, frame);
	/* The globals are not checked: frames for CPython's own use have none; in 3.12 their field has a stale
	 * value. */
	return owner <= CPYTHON_OWNED_BY_OBJECT && is_address(frame->code) ? FRAME_OF_FUNCTION : FRAME_IMPOSSIBLE;
}

/* State of Brent's cycle detection: each frame is compared with `mark`, which becomes the current frame after 1, 2, 4,
 * 8, ... steps. */
struct cycle {
	uint64_t mark, steps, limit;
};

static bool closes_cycle(struct cycle *cycle, uint64_t frame)
{
	if (frame == cycle->mark)
		return true;
	if (++cycle->steps >= cycle->limit) {
		cycle->steps = 0;
		cycle->limit *= 2;
		cycle->mark = frame;
	}
	return false;
}

enum cpython_end cpython_frames(const struct cpython_layout *layout, const struct threadcopy *copy,
				struct cpython_stack *stack)
{
	struct threadcopy_view view = threadcopy_view_of(copy), objects = view;
	struct cycle cycle = { 0, 0, 1 };
	uint64_t at = 0;
	enum cpython_end end = innermost(layout, &view, &at);

	stack->n = 0;
	for (unsigned entries = 0; end == CPYTHON_COMPLETE && at;) {
		struct cpython_frame *frame = &stack->frame[stack->n];
		const char *bytes;
		enum frame_kind kind;

		if (stack->n == CPYTHON_FRAMES_MAX || entries == CPYTHON_FRAMES_MAX)
			return CPYTHON_TRUNCATED;
		if (!is_address(at) || closes_cycle(&cycle, at))
			return CPYTHON_IMPOSSIBLE;
		bytes = threadcopy_bytes(&view, at, layout->frame.bytes);
		if (!bytes)
			return CPYTHON_TRUNCATED;
		*frame = (struct cpython_frame){ .frame = at };
		kind = read_frame(layout, bytes, frame);
		if (kind == FRAME_IMPOSSIBLE)
			return CPYTHON_IMPOSSIBLE;
		if (kind == FRAME_OF_FUNCTION && layout->version >= 11)
			frame->copied = pycode_copied(layout, &objects, frame->code);
		if (kind == FRAME_OF_FUNCTION)
			stack->n++;
		else if (entries++, stack->n)
			stack->frame[stack->n - 1].entry = true;
		at = pylayout_word(bytes, layout->frame.previous);
	}
	/* A thread that has only entered the eval loop has entry marks, but no function. */
	return end == CPYTHON_COMPLETE && stack->n == 0 ? CPYTHON_NO_FRAME : end;
}
