/* SPDX-License-Identifier: Apache-2.0 */
#include "runtimes/v8/v8code.h"

#include "common/formats/perfrecord.h"

#include <stdlib.h>

/* Places in a frame, from the frame pointer downwards. */
#define CONTEXT 8u
#define FUNCTION 16u
#define BYTECODE_ARRAY 32u
#define BYTECODE_OFFSET 40u
#define RETURN 8u /* upwards: the return address */

/* Fields of a BaselineData. */
#define BASELINE_CODE 8u
#define BASELINE_DATA 16u

#define CANDIDATES_MAX 1024u
#define LEAF_BYTES 256u       /* bytes above the stack pointer in which a leaf without a frame has its return address */
#define CHARACTERS (4u << 20) /* characters of sources that are looked at for one stack */

/* A frame pointer with a possible instruction pointer of its frame. */
struct candidate {
	uint64_t fp, pc;
	bool exact;      /* pc is the sampled one */
	bool calls_leaf; /* as v8_frame.calls_leaf */
};

struct search {
	struct v8 *v8;
	const struct v8_stack *stack;
	struct candidate candidate[CANDIDATES_MAX];
	size_t n;
	bool cut;
};

/* ---- the copy --------------------------------------------------------------------------------------------------- */

static bool stack_has(const struct v8_stack *stack, uint64_t address)
{
	return address % 8 == 0 && address >= stack->start && stack->bytes.n >= 8 &&
	       address - stack->start <= stack->bytes.n - 8;
}

/* Returns the word at an address; 0 if the copy does not have it. */
static uint64_t stack_word(const struct v8_stack *stack, uint64_t address)
{
	return !stack_has(stack, address) ? 0 : load64(stack->bytes.p + (address - stack->start));
}

/* Returns true if the words at fp may be those of a frame of a JavaScript function. */
static bool may_be_frame(const struct v8_stack *stack, uint64_t fp)
{
	return stack_has(stack, fp) && fp - stack->start >= FUNCTION &&
	       v8heap_is_object(stack_word(stack, fp - CONTEXT)) && v8heap_is_object(stack_word(stack, fp - FUNCTION));
}

static void add(struct search *search, struct candidate candidate)
{
	if (!may_be_frame(search->stack, candidate.fp))
		return;
	if (search->n == CANDIDATES_MAX)
		search->cut = true;
	else
		search->candidate[search->n++] = candidate;
}

/* Each function with a frame stores the frame pointer of its caller, and above it the return address. */
static void find_candidates(struct search *search)
{
	const struct v8_stack *stack = search->stack;

	for (uint64_t at = stack->start; stack_has(stack, at) && stack_has(stack, at + RETURN); at += 8) {
		uint64_t fp = stack_word(stack, at);

		if (fp > at && fp - at < stack->bytes.n)
			add(search, (struct candidate){ .fp = fp, .pc = stack_word(stack, at + RETURN) });
	}
}

static int candidate_cmp(const void *left, const void *right)
{
	const struct candidate *a = left, *b = right;

	if (a->fp != b->fp)
		return a->fp < b->fp ? -1 : 1;
	if (a->pc != b->pc)
		return a->pc < b->pc ? -1 : 1;
	return b->exact + b->calls_leaf - a->exact - a->calls_leaf;
}

/* ---- proof ------------------------------------------------------------------------------------------------------ */

/* Sets *array to the BytecodeArray of a function, which its SharedFunctionInfo, InterpreterData or baseline code has.
 */
static bool bytecode_of(struct v8 *v8, uint64_t data, uint64_t *array)
{
	const struct v8_layout *layout = &v8->layout;
	uint32_t type, offset;

	for (unsigned hop = 0; hop < 3; hop++) {
		if (!v8heap_is_object(data) || !v8heap_type(v8, data, &type))
			return false;
		*array = data;
		if (type == layout->type.bytecode_array)
			return true;
		if (type == layout->type.baseline_data && type)
			offset = BASELINE_DATA;
		else if (type == layout->type.code)
			offset = layout->code.deopt;
		else if (type == layout->type.interpreter_data)
			offset = 8;
		else
			return false;
		if (!v8heap_word(v8, data, offset, &data))
			return false;
	}
	return false;
}

/* Returns true if baseline code is that of a BytecodeArray. Before V8 10, the function's data has both. */
static bool is_baseline_of(struct v8 *v8, const struct v8_code *code, uint64_t array, uint64_t data)
{
	uint64_t own;

	if (v8->layout.type.baseline_data && v8heap_is(v8, data, v8->layout.type.baseline_data))
		return v8heap_word(v8, data, BASELINE_CODE, &own) && own == code->object;
	return bytecode_of(v8, code->object, &own) && own == array;
}

/* Proves the JSFunction of a frame: its map, its context and its SharedFunctionInfo, whose data and name it sets. */
static bool prove_function(struct v8 *v8, uint64_t function, struct v8_frame *frame, uint64_t *data)
{
	const struct v8_layout *layout = &v8->layout;
	uint64_t context;
	uint32_t type;

	return v8heap_type(v8, function, &type) && type >= layout->type.first && type <= layout->type.last &&
	       v8heap_object(v8, function, layout->function.context, &context) && v8heap_type(v8, context, &type) &&
	       type >= layout->type.nonstring && v8heap_object(v8, function, layout->function.shared, &frame->shared) &&
	       v8heap_is(v8, frame->shared, layout->type.shared) &&
	       v8heap_word(v8, frame->shared, layout->shared.data, data) &&
	       v8heap_word(v8, frame->shared, layout->shared.name, &frame->name);
}

/* Returns true if the frame's BytecodeArray is that of the function, and sets the address of the instruction. */
static bool prove_interpreted(struct v8 *v8, uint64_t array, uint64_t offset, uint64_t data, struct v8_frame *frame)
{
	uint64_t own, word;
	uint32_t at, length;

	if (!v8heap_smi(offset, &at) || !bytecode_of(v8, data, &own) || own != array ||
	    !v8heap_word(v8, array, 8, &word) || !v8heap_smi(word, &length))
		return false;
	if (at + 1 < v8->layout.bytecode_array.data || at + 1 - v8->layout.bytecode_array.data >= length)
		return false;
	frame->kind = V8_INTERPRETED;
	/* offsets count from the tagged pointer, and bytecodes have any alignment: addresses in callchains are even */
	frame->address = (array + at) & ~UINT64_C(1);
	return true;
}

/* Returns true if the code at the frame's pc is that of its function. */
static bool prove_compiled(struct v8 *v8, const struct v8_code *code, uint64_t array, uint64_t data,
			   struct v8_frame *frame)
{
	uint64_t own, shared;

	if (code->kind == v8->layout.code.baseline) {
		frame->kind = V8_BASELINE;
		return bytecode_of(v8, data, &own) && own == array && is_baseline_of(v8, code, array, data);
	}
	frame->kind = V8_OPTIMIZED;
	return code->kind > v8->layout.code.baseline && v8code_function(v8, code, &shared) &&
	       (shared == 0 || shared == frame->shared);
}

static bool prove_candidate(struct search *search, const struct candidate *candidate, struct v8_frame *frame,
			    struct v8_code *code)
{
	const struct v8_stack *stack = search->stack;
	uint64_t array = stack_word(stack, candidate->fp - BYTECODE_ARRAY),
		 offset = stack_word(stack, candidate->fp - BYTECODE_OFFSET), data;
	struct v8 *v8 = search->v8;

	*frame = (struct v8_frame){ .fp = candidate->fp, .pc = candidate->pc, .calls_leaf = candidate->calls_leaf };
	if (!prove_function(v8, stack_word(stack, candidate->fp - FUNCTION), frame, &data))
		return false;
	if (v8code_find(v8, candidate->pc, code))
		return prove_compiled(v8, code, array, data, frame);
	frame->kind = V8_BUILTIN;
	if ((data & 1) == 0)
		return true;
	return v8heap_is_object(array) && prove_interpreted(v8, array, offset, data, frame);
}

/* Finds the candidate for the innermost frame. Code without a frame of its own, as of libc, or as most builtins of V8,
 * keeps the frame pointer of its caller: the return address is one of the first words, the first that leads into code.
 */
static void find_leaf(struct search *search)
{
	const struct v8_stack *stack = search->stack;
	const struct candidate leaf = { .fp = stack->bp, .pc = stack->ip, .exact = true };
	struct v8_frame frame;
	struct v8_code code;

	if (!may_be_frame(stack, stack->bp))
		return;
	if (prove_candidate(search, &leaf, &frame, &code)) {
		add(search, leaf);
		return;
	}
	for (uint64_t at = stack->start; at < stack->bp && at - stack->start < LEAF_BYTES; at += 8) {
		struct candidate caller = { .fp = stack->bp, .pc = stack_word(stack, at), .calls_leaf = true };

		if (v8code_is_near(search->v8, caller.pc) && v8code_find(search->v8, caller.pc, &code)) {
			add(search, caller);
			return;
		}
	}
}

/* ---- the result ------------------------------------------------------------------------------------------------- */

static void put(struct v8_frames *frames, const struct v8_frame *frame)
{
	if (frames->n == V8_FRAMES_MAX)
		frames->cut = true;
	else
		frames->frame[frames->n++] = *frame;
}

/* Puts a frame, after the functions that are inlined at its pc. */
static void put_with_inlined(struct v8 *v8, const struct v8_frame *frame, const struct v8_code *code, bool exact,
			     struct v8_frames *frames)
{
	uint64_t inlined[V8CODE_INLINED];
	uint32_t n = frame->kind == V8_OPTIMIZED ? v8code_inlined(v8, code, frame->pc, exact, inlined) : 0;

	for (uint32_t i = 0; i < n; i++) {
		struct v8_frame one = *frame;

		one.shared = inlined[i];
		one.kind = V8_INLINED;

		if (!v8heap_word(v8, one.shared, v8->layout.shared.name, &one.name))
			return;
		put(frames, &one);
	}
	put(frames, frame);
}

void v8_frames(struct v8 *v8, const struct v8_stack *stack, struct v8_frames *frames)
{
	static struct search search;

	search.v8 = v8;
	search.stack = stack;
	search.n = 0;
	search.cut = false;
	frames->n = 0;
	v8->searches = V8CODE_SEARCHES;
	v8->characters = CHARACTERS;
	if (stack->start % 8 || (v8->proven == 0 && v8->refuted >= V8_REFUTED))
		return;
	find_leaf(&search);
	find_candidates(&search);
	qsort(search.candidate, search.n, sizeof(*search.candidate), candidate_cmp);
	for (size_t i = 0; i < search.n; i++) {
		const struct candidate *candidate = &search.candidate[i];
		struct v8_frame frame;
		struct v8_code code;

		if (i && candidate->fp == candidate[-1].fp && candidate->pc == candidate[-1].pc)
			continue;
		if (prove_candidate(&search, candidate, &frame, &code)) {
			v8->proven++;
			put_with_inlined(v8, &frame, &code, candidate->exact, frames);
		} else {
			v8->refuted++;
		}
	}
	frames->cut = search.cut || (v8->memory->budget && v8->memory->budget->over);
}
