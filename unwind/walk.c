/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/walk.h"

#include "unwind/dwarf/unwindtable.h"
#include "unwind/hostframe.h"

#include "common/arena.h"
#include "common/debug.h"

#include <stdlib.h>

/* ---- unwinders of native code ------------------------------------------------------------------------------------ */

static enum unwind_end walk_step_frame_pointer(struct unwind_state *state, const struct walk_code *code, bool leaf,
					       struct walk_frame *frame)
{
	(void)code;
	(void)frame;
	return unwind_step(state, (struct unwind_code){ 0 }, leaf);
}

static enum unwind_end walk_step_cfi(struct unwind_state *state, const struct walk_code *code, bool leaf,
				     struct walk_frame *frame)
{
	enum unwind_end end = unwind_step(state, code->tables, leaf);

	/* If the caller was interrupted, this frame is a signal frame, and its address is no return address. */
	frame->exact |= !leaf && end == UNWIND_MORE && state->interrupted;
	return end;
}

const struct unwinder unwinder_frame_pointer = { "frame pointers", walk_step_frame_pointer };
const struct unwinder unwinder_cfi = { "CFI", walk_step_cfi };

/* ---- walking a stack --------------------------------------------------------------------------------------------- */

static bool walk_in_runtime(const struct walk_code *code)
{
	return code->unwinder != &unwinder_cfi && code->unwinder != &unwinder_frame_pointer &&
	       code->unwinder != &unwinder_host_frame;
}

static void walk_push(struct walk *walk, const struct walk_frame *frame)
{
	if (walk->n == walk->capacity) {
		walk->capacity = walk->capacity ? 2 * walk->capacity : 128;
		walk->frame = mem_grow(walk->frame, sizeof(*walk->frame), walk->capacity);
	}
	walk->frame[walk->n++] = *frame;
}

static void walk_step(struct walk *walk, struct unwind_state *state, const struct walk_code *code)
{
	struct walk_frame frame = { .address = state->ip, .bp = state->bp, .exact = state->interrupted };

	if (walk->slot && walk->slot < CFI_NREGS && (state->valid >> walk->slot & 1))
		frame.value = state->reg[walk->slot];
	walk->frame_pointers |= code->unwinder == &unwinder_frame_pointer;
	walk->runtime |= walk_in_runtime(code);
	walk->late |= code->late;
	walk->v8 |= code->v8;
	walk->end = code->gone ? UNWIND_NO_CODE : code->unwinder->step(state, code, walk->leaf, &frame);
	walk->frame_pointers |= frame.by_pointer;
	walk->omitted = frame.omitted;
	if (!frame.omitted)
		walk_push(walk, &frame);
	/* Ends the walk at an address above INT64_MAX: user code has none, and readers would take it for a context
	 * marker. */
	if (walk->end == UNWIND_MORE && state->ip > INT64_MAX)
		walk->end = UNWIND_NO_CODE;
	walk->unproven = state->unproven;
	walk->last = *code;
	if (frame.by_pointer)
		walk->last.unwinder = &unwinder_frame_pointer;
}

/* Returns true if the code at *state, the outermost frame of the walk, has changed to another stack. */
static bool walk_changes_stack(const struct walk *walk, const struct unwind_state *state)
{
	const struct unwind_code *code = &walk->last.tables;

	return walk->last.unwinder == &unwinder_cfi && code->table &&
	       unwind_table_changes_stack(code->table, walk_code_address(state) - code->bias);
}

/* Walks a stack once, under the assumptions in *state. Returns false if walk->find returns false. */
static bool walk_once(struct walk *walk, struct unwind_state *state)
{
	walk->n = 0;
	walk->end = UNWIND_MORE;
	walk->frame_pointers = walk->late = walk->runtime = walk->omitted = walk->unproven = walk->v8 = false;
	walk->last = (struct walk_code){ .unwinder = &unwinder_frame_pointer };
	walk->leaf = true;
	while (walk->end == UNWIND_MORE && walk->n < walk->max) {
		struct walk_code code = { .unwinder = &unwinder_frame_pointer };

		if (!walk->find(walk->owner, walk, state, &code))
			return false;
		walk_step(walk, state, &code);
		walk->leaf = false;
	}
	if (walk->end == UNWIND_ROOT && walk->unproven && !walk->v8)
		walk->end = UNWIND_UNKNOWN;
	if (walk->end == UNWIND_NO_CODE && walk_changes_stack(walk, state))
		walk->end = UNWIND_OTHER_STACK;
	return true;
}

bool walk_stack(struct walk *walk, struct unwind_state *state)
{
	struct unwind_state start = *state;

	if (!walk_once(walk, state))
		return false;
	if (walk->end == UNWIND_ROOT || !state->no_fde || !walk->retry_leaf)
		return true;
	*state = start;
	state->assume_leaf = true;
	if (!walk_once(walk, state))
		return false;
	if (walk->end == UNWIND_ROOT && !walk->frame_pointers && !walk->unproven)
		return true;
	*state = start;
	return walk_once(walk, state);
}

bool walk_is_v8(struct str path)
{
	static const struct str names[] = { STR("node"),     STR("nodejs"), STR("libnode.so"),
					    STR("libv8.so"), STR("chrome"), STR("chromium"),
					    STR("electron"), STR("deno"),   STR("d8") };
	struct str name = str_from(path, (size_t)(str_rfind(path, '/') + 1));

	for (size_t i = 0; i < countof(names); i++)
		if (str_starts(name, names[i]) &&
		    (name.n == names[i].n || (str_ends(names[i], STR(".so")) && name.p[names[i].n] == '.')))
			return true;
	return false;
}

void walk_release(struct walk *walk)
{
	free(walk->frame);
	walk->frame = NULL;
	walk->n = walk->capacity = 0;
}

/* ---- counting the walked stacks ---------------------------------------------------------------------------------- */

static uint64_t *walk_reason(const struct walk *walk, bool copied, struct pj_unwinding *counts)
{
	if (!copied)
		return &counts->no_stack;
	if (walk->end == UNWIND_OTHER_STACK)
		return &counts->other_stack;
	if (walk->end == UNWIND_LOOP)
		return &counts->astray;
	if (walk->last.unwinder == &unwinder_cfi || walk->last.unwinder == &unwinder_host_frame)
		return &counts->no_rule;
	if (walk_in_runtime(&walk->last))
		return &counts->no_caller;
	return walk->last.mapped ? &counts->no_table : &counts->unmapped;
}

void walk_count(const struct walk *walk, bool copied, struct pj_unwinding *counts)
{
	counts->stacks++;
	counts->fp += walk->frame_pointers;
	counts->late += walk->late;
	counts->java += walk->runtime;
	if (walk->end == UNWIND_ROOT) {
		counts->complete++;
		counts->fp_complete += walk->frame_pointers;
		counts->java_complete += walk->runtime;
	} else if (walk->end == UNWIND_UNKNOWN) {
		counts->unknown++;
	} else if (copied && (walk->end == UNWIND_STACK_CUT || walk->end == UNWIND_MORE)) {
		counts->cut++;
	} else {
		uint64_t *reason = walk_reason(walk, copied, counts);

		counts->broken++;
		counts->broken_late += walk->late && reason != &counts->no_stack && reason != &counts->other_stack;
		++*reason;
	}
}

void walk_debug(const struct walk *walk, uint32_t pid)
{
	static const char *const ends[] = {
		[UNWIND_UNKNOWN] = "ends, by frame pointers that may not be any,",
		[UNWIND_MORE] = "is longer than the limit of frames",
		[UNWIND_STACK_CUT] = "goes on above its copy",
		[UNWIND_NO_CODE] = "has no caller that is code",
		[UNWIND_LOOP] = "has a caller below its callee",
		[UNWIND_OTHER_STACK] = "has changed to another stack",
		[UNWIND_NO_STACK] = "was not copied",
	};

	if (walk->end != UNWIND_ROOT && walk->n)
		debug(DEBUG_UNWIND, "process %u: stack of %zu frames from %llx %s at %llx (%s%s)", pid, walk->n,
		      (unsigned long long)walk->frame[0].address, ends[walk->end],
		      (unsigned long long)walk->frame[walk->n - 1].address, walk->last.unwinder->name,
		      walk->last.mapped ? "" : ", no mapping");
}
