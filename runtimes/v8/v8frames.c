/* SPDX-License-Identifier: Apache-2.0 */
#include "runtimes/v8/v8code.h"
#include "runtimes/v8/v8deopt.h"

#include "common/formats/perfrecord.h"
#include "common/hash.h"

#include <stdlib.h>
#include <string.h>

/* Slots of a frame, in bytes below the frame pointer. */
#define CONTEXT 8u
#define FUNCTION 16u
#define BYTECODE_ARRAY 32u
#define BYTECODE_OFFSET 40u
#define RETURN 8u /* offset of the return address, in bytes above the frame pointer */

/* Offsets of fields in a BaselineData object. */
#define BASELINE_CODE 8u
#define BASELINE_DATA 16u

#define MAGLEV 12000u /* first V8 version (major * 1000 + minor) whose node may run Maglev */

#define CANDIDATES_MAX 1024u
/* number of bytes above the stack pointer in which a leaf function without a frame has its return address */
#define LEAF_BYTES 256u
#define CHARACTERS \
	(96u << 10) /* maximum number of source characters read per stack: about 0.1 ms of the 1 ms for names */

/* Possible frame: a frame pointer and the instruction pointer that belongs to it. */
struct candidate {
	uint64_t fp, pc;
	bool exact; /* true if pc is the sampled instruction pointer */
	/* true if the frame called the leaf function, which has no frame of its own (v8_frame.calls_leaf) */
	bool calls_leaf;
	bool unsure; /* true if the code has run but pc may be stale, so that inlined functions are unknown */
};

/* Stack words that prove a frame: frames of a stack with equal words have the same functions. */
struct evidence {
	uint64_t function, array, offset, pc;
};

/* Proven frames of one evidence: frame[first, first + n) of the result; n = 0: none is proven yet. */
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
	struct twin twin[TWINS]; /* cache by the hash of the evidence */
};

/* ---- words and candidates of the stack copy ---------------------------------------------------------------------- */

static bool stack_has(const struct v8_stack *stack, uint64_t address)
{
	return address % 8 == 0 && address >= stack->start && stack->bytes.n >= 8 &&
	       address - stack->start <= stack->bytes.n - 8;
}

/* Returns the stack word at an address, or 0 if the copy does not contain it. */
static uint64_t stack_word(const struct v8_stack *stack, uint64_t address)
{
	return !stack_has(stack, address) ? 0 : load64(stack->bytes.p + (address - stack->start));
}

/* Returns true if the words at fp may belong to a frame of a JavaScript function: context and JSFunction are object
 * pointers. Returns false if the copy lacks the words. */
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

/* Adds a candidate for each pair of adjacent words that look like a saved frame pointer and its return address: each
 * function with a frame saves its caller's frame pointer, and the return address is above it. */
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

/* ---- proof of frames --------------------------------------------------------------------------------------------- */

/* Sets *array to the BytecodeArray of a function, from the function's data: the array itself, InterpreterData,
 * baseline code or BaselineData. Returns false if the data is another object. */
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

/* Returns true if baseline code belongs to the BytecodeArray `array`. Before V8 10, the function's data is a
 * BaselineData object that has both the code and the array. */
static bool is_baseline_of(struct v8 *v8, const struct v8_code *code, uint64_t array, uint64_t data)
{
	uint64_t own;

	if (v8->layout.type.baseline_data && v8heap_is(v8, data, v8->layout.type.baseline_data))
		return v8heap_word(v8, data, BASELINE_CODE, &own) && own == code->object;
	return bytecode_of(v8, code->object, &own) && own == array;
}

/* Proves the JSFunction of a frame by its map, context and SharedFunctionInfo. Sets shared and name of *frame, and
 * *data to the function's data (bytecode or code). Returns false if the JSFunction is not proven. */
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

/* Returns true and sets kind and address of *frame if the frame's BytecodeArray is the function's and the bytecode
 * offset lies within it; otherwise returns false. */
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
	/* The offset counts from the tagged pointer. Bytecodes have any alignment, but addresses in callchains are
	 * even, so the lowest bit is cleared. */
	frame->address = (array + at) & ~UINT64_C(1);
	return true;
}

/* Returns true and sets the kind of *frame if the code at the frame's pc belongs to the frame's function; otherwise
 * returns false. */
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
	frame->kind = V8_BUILTIN; /* a builtin function has a Smi in place of its bytecode */
	return (data & 1) == 0 || (v8heap_is_object(array) && prove_interpreted(v8, array, offset, data, frame));
}

/* Returns true if the word at `at` must be the leaf's return address: the leaf has just been called, or has pushed
 * only its caller's frame pointer. Words further up may be stale words of earlier calls. */
static bool is_at_entry(const struct v8_stack *stack, uint64_t at)
{
	return at == stack->start || (at == stack->start + 8 && stack_word(stack, stack->start) == stack->bp);
}

/* Adds the candidate for the innermost frame. Leaf code without a frame of its own, such as libc's and most builtins
 * of V8, leaves the frame pointer of its caller unchanged. The return address to that caller is then the first of
 * the words at the stack pointer that leads into generated code. */
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

/* ---- frames of the candidates, with inlined functions ------------------------------------------------------------ */

/* Functions of one native frame: the inlined ones, innermost first, and after them the function of the code. */
struct group {
	struct v8_frame frame[V8CODE_INLINED + 1];
	uint32_t n;
};

static bool is_over(const struct v8 *v8)
{
	return v8->memory->budget && v8->memory->budget->over;
}

/* Sets inlined[0..n) to the functions that are inlined at a candidate's pc, innermost first. Returns n. Turbofan
 * stores the source position of nearly every instruction. Maglev does not: in its code, inlined functions are known
 * only at calls. */
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

/* Finds the functions of a candidate. Returns false if one of these functions is not proven, or the budget is
 * exceeded. */
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

/* Returns the cache entry for the evidence of a candidate, emptied if it held other evidence. In recursions, most
 * frames of a stack have the same evidence. To be called only for a return address: a sampled pc is not cached. */
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

/* Appends n frames of a candidate, if space remains for one frame of each of the `left` later candidates. Returns
 * false otherwise. */
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

/* Appends the proven frames of a candidate. Returns false if it is not proven, exceeds the budget, or has no space. */
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

/* Appends a candidate as a frame of kind V8_UNPROVEN. */
static void put_unproven(const struct candidate *candidate, struct v8_frames *frames)
{
	frames->frame[frames->n++] = (struct v8_frame){
		.fp = candidate->fp, .pc = candidate->pc, .kind = V8_UNPROVEN, .calls_leaf = candidate->calls_leaf
	};
}

/* Appends the frames of all candidates, each pair of fp and pc once. To be called with sorted candidates. Each
 * candidate has space for at least one frame. */
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
