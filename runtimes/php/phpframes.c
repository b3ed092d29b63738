/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds frames in a copy. The followed pointers are in zend_vm_def.h and zend_execute.c of each version.
 *
 * If a script calls a function, execute_ex runs the function in the same activation. An activation ends when it leaves
 * a frame with the flag ZEND_CALL_TOP. The frame of an internal function may have the flag, too, but runs in no
 * activation, so the kind of each function must be known. Internal functions are never freed: a function that is no
 * longer in memory was a script's.
 *
 * All generators that wait in a chain of `yield from` share one placeholder frame, and the copy does not show which
 * generators they are. Generators end too soon to be read later, so the frame has no function.
 *
 * The current instruction of the innermost frame is in a register of execute_ex; the one in memory is an earlier one of
 * the same function, or anything if code of the JIT compiler runs the frame. The instruction of a caller is exact: PHP
 * stores it before a call.
 */
#include "runtimes/php/phplayout.h"

/* Number of bytes before and after the start of a frame that one read copies. A caller lies below its callee in
 * PHP's stack of 256 kB. */
#define BELOW_FRAME 7680u
#define ABOVE_FRAME 512u

/* Limits for the offset of the placeholder frame in a generator object, in bytes; a frame at another offset is
 * hidden. */
#define PLACEHOLDER_MIN 64u
#define PLACEHOLDER_MAX 512u

void php_plan(const struct php_layout *layout, struct threadplan *plan)
{
	*plan = (struct threadplan){
		.root_bytes = 8,
		.nhops = 1,
		.hop = { 0 },
		.before = BELOW_FRAME,
		.after = ABOVE_FRAME,
		.frame_bytes = PHPFRAME_BYTES,
		.next = PHPFRAME_PREVIOUS,
		.mask = ~(uint64_t)0,
		.frames = PHP_FRAMES_MAX,
		.object = PHPFRAME_FUNCTION,
		.object_bytes = phplayout_code_bytes(layout),
	};
}

/* Result of reading one frame. PHPFRAME_FIBER: start of a fiber. PHPFRAME_WRONG: the frame is invalid. */
enum phpframe_kind { PHPFRAME_SHOWN, PHPFRAME_HIDDEN, PHPFRAME_FIBER, PHPFRAME_WRONG };

/* Reads a frame without a function: the placeholder in a delegating generator (shown), or a copy of the caller's frame
 * in the native stack (hidden), by which PHP marks that native code called a function. Any other frame is invalid. */
static enum phpframe_kind read_placeholder(const char *bytes, struct php_frame *frame)
{
	uint64_t object = phplayout_word(bytes, PHPFRAME_THIS);

	if (phplayout_word(bytes, PHPFRAME_OPLINE) != 0)
		return PHPFRAME_WRONG;
	if ((phplayout_half(bytes, PHPFRAME_INFO) & PHPCALL_TYPE) != PHPTYPE_OBJECT || !phplayout_is_address(object) ||
	    frame->frame < object + PLACEHOLDER_MIN || frame->frame > object + PLACEHOLDER_MAX)
		return PHPFRAME_HIDDEN;
	frame->kind = PHP_DELEGATING;
	return PHPFRAME_SHOWN;
}

/* Sets frame->code from the copy. Returns false if the copy does not contain the function. */
static bool copied_function(const struct php *php, struct threadcopy_view *view, struct php_frame *frame)
{
	uint32_t n = phplayout_code_bytes(&php->layout);
	const char *bytes = threadcopy_bytes(view, frame->function, n);

	if (!bytes && (bytes = threadcopy_bytes(view, frame->function, PHPFUNCTION_BYTES)))
		n = PHPFUNCTION_BYTES;
	return bytes && phplayout_code(&php->layout, bytes, n, &frame->code);
}

static enum phpframe_kind read_frame_of_function(const struct php *php, struct threadcopy_view *view, const char *bytes,
						 struct php_frame *frame)
{
	bool copied = copied_function(php, view, frame);
	struct php_code code = frame->code;
	char head[PHPFUNCTION_BYTES];

	if (!phplayout_is_address(frame->function))
		return PHPFRAME_WRONG;
	if (!copied && memory_read(php->memory, frame->function, head, sizeof(head))) {
		/* php_function reads the other members later */
		phplayout_code(&php->layout, head, sizeof(head), &code);
		code.type = (uint8_t)head[0];
	} else if (!copied && php->memory->budget && php->memory->budget->over) {
		return PHPFRAME_WRONG;
	}
	if (code.type == PHPFUNCTION_INTERNAL) {
		frame->kind = PHP_INTERNAL;
		return code.name ? PHPFRAME_SHOWN : PHPFRAME_FIBER;
	}
	frame->kind = code.type == PHPFUNCTION_USER || code.type == PHPFUNCTION_EVAL ? PHP_FUNCTION : PHP_ENDED;
	frame->entry = phplayout_half(bytes, PHPFRAME_INFO) & PHPCALL_TOP;
	frame->instruction = phplayout_word(bytes, PHPFRAME_OPLINE);
	return PHPFRAME_SHOWN;
}

/* Sets *frame to the frame with these bytes. Returns whether it is shown, hidden, the start of a fiber, or invalid. */
static enum phpframe_kind read_phpframe(const struct php *php, struct threadcopy_view *view, const char *bytes,
					struct php_frame *frame)
{
	frame->function = phplayout_word(bytes, PHPFRAME_FUNCTION);
	frame->outermost = phplayout_word(bytes, PHPFRAME_PREVIOUS) == 0;
	return frame->function ? read_frame_of_function(php, view, bytes, frame) : read_placeholder(bytes, frame);
}

/* State of Brent's cycle detection: each frame is compared with `mark`, which becomes the current frame after 1, 2, 4,
 * 8, ... steps. */
struct phpcycle {
	uint64_t mark, steps, limit;
};

static bool closes_phpcycle(struct phpcycle *cycle, uint64_t frame)
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

enum php_end php_frames(const struct php *php, const struct threadcopy *copy, struct php_stack *stack)
{
	struct threadcopy_view view = threadcopy_view_of(copy);
	struct phpcycle cycle = { 0, 0, 1 };
	const char *bytes = threadcopy_bytes(&view, copy->root, 8);
	uint64_t at = bytes ? phplayout_word(bytes, 0) : 0;

	stack->n = 0;
	if (!bytes)
		return PHP_TRUNCATED;
	for (unsigned steps = 0; at; steps++) {
		struct php_frame *frame = &stack->frame[stack->n];
		enum phpframe_kind kind;

		if (steps == PHP_FRAMES_MAX)
			return PHP_TRUNCATED;
		if (!phplayout_is_address(at) || closes_phpcycle(&cycle, at))
			return PHP_IMPOSSIBLE;
		bytes = threadcopy_bytes(&view, at, PHPFRAME_BYTES);
		if (!bytes)
			return PHP_TRUNCATED;
		*frame = (struct php_frame){ .frame = at };
		kind = read_phpframe(php, &view, bytes, frame);
		if (kind == PHPFRAME_WRONG)
			return PHP_IMPOSSIBLE;
		if (kind == PHPFRAME_FIBER)
			break;
		frame->innermost = steps == 0;
		stack->n += kind == PHPFRAME_SHOWN;
		at = phplayout_word(bytes, PHPFRAME_PREVIOUS);
	}
	return PHP_COMPLETE;
}
