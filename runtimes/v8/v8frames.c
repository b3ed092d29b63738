/* SPDX-License-Identifier: Apache-2.0 */
#include "runtimes/v8/v8code.h"
#include "runtimes/v8/v8deopt.h"

#include "common/formats/perfrecord.h"
#include "common/hash.h"

#include <stdlib.h>
#include <string.h>

/* Places in a frame, from the frame pointer downwards. */
#define CONTEXT 8u
#define FUNCTION 16u
#define BYTECODE_ARRAY 32u
#define BYTECODE_OFFSET 40u
#define RETURN 8u /* upwards: the return address */

/* Fields of a BaselineData. */
#define BASELINE_CODE 8u
#define BASELINE_DATA 16u

#define MAGLEV 12000u /* first version whose nodes may run it */

#define CANDIDATES_MAX 1024u
#define LEAF_BYTES 256u /* bytes above the stack pointer in which a leaf without a frame has its return address */
#define CHARACTERS \
	(96u << 10) /* characters of sources that are looked at for one stack: some 0.1 ms, as names have 1 ms */

/* A frame pointer with a possible instruction pointer of its frame. */
struct candidate {
	uint64_t fp, pc;
	bool exact;      /* pc is the sampled one */
	bool calls_leaf; /* as v8_frame.calls_leaf */
	bool unsure;     /* the code at pc has run, but maybe not at pc */
};

/* What a frame is proven by: two frames of a stack with the same words have the same functions. */
struct evidence {
	uint64_t function, array, offset, pc;
};

/* Frames of a proven candidate of the stack: frame[first, first + n) of the result; n is 0 if there is none. */
struct twin {
	struct evidence evidence;
	uint32_t first, n;
};

#define TWINS 256u

struct search {
	struct v8 *v8;
	const struct v8_stack *stack;
	struct candidate candidate[CANDIDATES_MAX];
	size_t n;
	bool cut;
	struct twin twin[TWINS]; /* by the hash of the evidence */
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
	return code->kind > v8->layout.code.baseline && v8code_function(v8, code, &shared) && shared == frame->shared;
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
	switch (v8code_find(v8, candidate->pc, code)) {
	case V8CODE_GENERATED: return prove_compiled(v8, code, array, data, frame);
	case V8CODE_UNKNOWN: return false;
	case V8CODE_OF_FILE: break;
	}
	frame->kind = V8_BUILTIN; /* such a function has a Smi instead of bytecode */
	return (data & 1) == 0 || (v8heap_is_object(array) && prove_interpreted(v8, array, offset, data, frame));
}

/* Returns true if a word in place of the return address of a leaf is that: the leaf has just been called, or has stored
 * its caller's frame pointer alone. Words further up may be left from calls before. */
static bool is_at_entry(const struct v8_stack *stack, uint64_t at)
{
	return at == stack->start || (at == stack->start + 8 && stack_word(stack, stack->start) == stack->bp);
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
		struct candidate caller = { .fp = stack->bp,
					    .pc = stack_word(stack, at),
					    .calls_leaf = true,
					    .unsure = !is_at_entry(stack, at) };

		if (v8code_is_near(search->v8, caller.pc) &&
		    v8code_find(search->v8, caller.pc, &code) == V8CODE_GENERATED) {
			add(search, caller);
			return;
		}
	}
}

/* ---- the result ------------------------------------------------------------------------------------------------- */

/* The functions of a frame: those that are inlined, and the one that contains them. */
struct group {
	struct v8_frame frame[V8CODE_INLINED + 1];
	uint32_t n;
};

static bool is_over(const struct v8 *v8)
{
	return v8->memory->budget && v8->memory->budget->over;
}

/* Sets inlined[0..n) to the functions that are inlined where a candidate is, the innermost first. Returns n.
 *
 * Turbofan stores the source position of nearly each instruction. Maglev does not: only its calls have inlined
 * functions.
 */
static uint32_t find_inlined(struct v8 *v8, const struct v8_code *code, const struct candidate *candidate,
			     uint64_t inlined[V8CODE_INLINED])
{
	bool turbofan = code->kind > v8->layout.code.baseline + 1;

	if (v8->layout.version < MAGLEV)
		return v8code_inlined(v8, code, candidate->pc, candidate->exact, inlined);
	if (!v8deopt_is_known(v8))
		return 0;
	if (!candidate->exact)
		return v8deopt_inlined(v8, code, candidate->pc, inlined);
	return turbofan ? v8code_inlined(v8, code, candidate->pc, true, inlined) : 0;
}

/* Finds the functions of a candidate. Returns false if one of them is not proven, or not within the budget. */
static bool find_group(struct search *search, const struct candidate *candidate, struct group *group)
{
	struct v8 *v8 = search->v8;
	uint64_t inlined[V8CODE_INLINED];
	struct v8_frame frame;
	struct v8_code code;
	uint32_t n = 0;

	if (!prove_candidate(search, candidate, &frame, &code))
		return false;
	if (frame.kind == V8_OPTIMIZED && !candidate->unsure)
		n = find_inlined(v8, &code, candidate, inlined);
	for (group->n = 0; group->n < n; group->n++) {
		struct v8_frame *one = &group->frame[group->n];

		*one = frame;
		one->shared = inlined[group->n];
		one->kind = V8_INLINED;
		if (!v8heap_word(v8, one->shared, v8->layout.shared.name, &one->name))
			return false;
	}
	group->frame[group->n++] = frame;
	return !is_over(v8);
}

/* Returns the place of the frames with the same evidence: in recursions, most frames of a stack. A return address, not
 * the sampled one, is part of it. */
static struct twin *twin_of(struct search *search, const struct candidate *candidate)
{
	const struct v8_stack *stack = search->stack;
	const struct evidence evidence = { stack_word(stack, candidate->fp - FUNCTION),
					   stack_word(stack, candidate->fp - BYTECODE_ARRAY),
					   stack_word(stack, candidate->fp - BYTECODE_OFFSET), candidate->pc };
	struct twin *twin = &search->twin[hash_bytes(&evidence, sizeof(evidence)) % TWINS];

	if (memcmp(&twin->evidence, &evidence, sizeof(evidence)) != 0)
		*twin = (struct twin){ .evidence = evidence };
	return twin;
}

/* Puts functions of a candidate, if they leave space for a frame of each of the `left` other candidates. */
static bool put_functions(struct v8_frames *frames, const struct candidate *candidate, const struct v8_frame *from,
			  uint32_t n, size_t left)
{
	if (n > V8_FRAMES_MAX - frames->n - left)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		struct v8_frame *frame = &frames->frame[frames->n++];

		*frame = from[i];
		frame->fp = candidate->fp;
	}
	return true;
}

/* Puts the functions of a candidate. Returns false if they are not proven, or not within the budget. */
static bool put_proven(struct search *search, const struct candidate *candidate, struct v8_frames *frames, size_t left)
{
	bool usual = !candidate->exact && !candidate->calls_leaf;
	struct twin *twin = usual ? twin_of(search, candidate) : NULL;
	struct group group;
	uint32_t first = frames->n;

	if (twin && twin->n)
		return put_functions(frames, candidate, frames->frame + twin->first, twin->n, left);
	if (!find_group(search, candidate, &group) || !put_functions(frames, candidate, group.frame, group.n, left))
		return false;
	search->v8->proven++;
	if (twin) {
		twin->first = first;
		twin->n = group.n;
	}
	return true;
}

/* Puts a candidate without functions. */
static void put_unproven(const struct candidate *candidate, struct v8_frames *frames)
{
	frames->frame[frames->n++] = (struct v8_frame){
		.fp = candidate->fp, .pc = candidate->pc, .kind = V8_UNPROVEN, .calls_leaf = candidate->calls_leaf
	};
}

/* Puts the frames of the candidates. Each has at least one: there is space for that. */
static void put_candidates(struct search *search, struct v8_frames *frames)
{
	struct v8 *v8 = search->v8;

	_Static_assert(CANDIDATES_MAX <= V8_FRAMES_MAX, "there is space for a frame of each candidate");
	for (size_t i = 0; i < search->n; i++) {
		const struct candidate *candidate = &search->candidate[i];

		if (i && candidate->fp == candidate[-1].fp && candidate->pc == candidate[-1].pc)
			continue;
		if (put_proven(search, candidate, frames, search->n - i - 1))
			continue;
		v8->refuted += !is_over(v8);
		put_unproven(candidate, frames);
	}
}

void v8_frames(struct v8 *v8, const struct v8_stack *stack, struct v8_frames *frames)
{
	static struct search search;

	search.v8 = v8;
	search.stack = stack;
	search.n = 0;
	search.cut = false;
	memset(search.twin, 0, sizeof(search.twin));
	frames->n = 0;
	v8->searches = V8CODE_SEARCHES;
	v8->characters = CHARACTERS;
	if (stack->start % 8 == 0 && (v8->proven || v8->refuted < V8_REFUTED)) {
		find_leaf(&search);
		find_candidates(&search);
		qsort(search.candidate, search.n, sizeof(*search.candidate), candidate_cmp);
		put_candidates(&search, frames);
	}
	frames->cut = search.cut;
}
