/* SPDX-License-Identifier: Apache-2.0 */
#include "runtimes/v8/v8code.h"

#include "common/hash.h"
#include "runtimes/v8/v8numbers.h"

/* ARRAY_LENGTH: offset of the length in FixedArrays and ByteArrays of all kinds; the elements follow at
 * V8CODE_ELEMENTS. ELEMENTS_MAX: maximum number of elements; a longer array is invalid. */
#define ARRAY_LENGTH 8u
#define ELEMENTS_MAX (1u << 20)
/* size of an InliningPosition: SourcePosition (8 bytes), index of the function (4), padding */
#define POSITION_BYTES 16u
#define NONE_LOOKUPS 4096u /* number of lookups after which an address without code is searched again */

/* Inlining id + 1 of a SourcePosition, whose bits are, from the lowest on: 1 for external, 30 for the offset, 16 for
 * the inlining id + 1. */
#define INLINING(position) ((uint32_t)((position) >> 31) & 0xffffu)

/* ---- search for code --------------------------------------------------------------------------------------------- */

/* Sets *object to the Code object whose first instruction would be at `start`, by the layout or by the pointer before
 * `start`. Returns false if the word found there is not a pointer to an object. */
static bool owner_of(struct v8 *v8, uint64_t start, uint64_t *object)
{
	if (start < v8->layout.code.owner + 4096)
		return false;
	if (v8->layout.code.is_inline) {
		*object = start - v8->layout.code.owner + 1;
		return v8heap_is_object(*object);
	}
	return memory_pointer(v8->memory, start - v8->layout.code.owner, object) && v8heap_is_object(*object);
}

/* Returns true and sets *code if code starts at `start`, that is, if its Code object points back to `start`; otherwise
 * returns false. */
static bool code_at(struct v8 *v8, uint64_t start, struct v8_code *code)
{
	uint64_t object, first, size, flags;

	if (!owner_of(v8, start, &object) || !v8heap_is(v8, object, v8->layout.type.code))
		return false;
	first = start;
	if (!v8->layout.code.is_inline && !v8heap_word(v8, object, v8->layout.code.start, &first))
		return false;
	if (first != start || !memory_u64(v8->memory, object - 1 + v8->layout.code.size, 4, &size) || size == 0 ||
	    size > INT32_MAX || !memory_u64(v8->memory, object - 1 + v8->layout.code.flags, 4, &flags))
		return false;
	*code = (struct v8_code){ object, start, (uint32_t)size, (uint32_t)flags & v8->layout.code.kind_mask };
	return true;
}

static bool contains(const struct v8_code *code, uint64_t pc)
{
	return pc >= code->start && pc - code->start <= code->size;
}

/* Searches backwards from pc for the start of code. Returns false if the nearest code before pc does not contain pc. */
static bool search(struct v8 *v8, uint64_t pc, struct v8_code *code)
{
	uint64_t align = v8->layout.code.align, start = (pc - 1) & ~(align - 1), end;

	end = start > V8CODE_BYTES ? start - V8CODE_BYTES : 0;
	for (; start > end && !(v8->memory->budget && v8->memory->budget->over); start -= align)
		if (code_at(v8, start, code))
			return contains(code, pc);
	return false;
}

static bool is_of_file(const struct v8 *v8, uint64_t pc)
{
	for (uint32_t i = 0; i < v8->nranges; i++)
		if (pc >= v8->range[i].start && pc < v8->range[i].end)
			return true;
	return false;
}

bool v8code_is_near(const struct v8 *v8, uint64_t pc)
{
	return pc >= v8->near.start && pc < v8->near.end;
}

/* Extends v8->near to contain code that was found. */
static void note_near(struct v8 *v8, const struct v8_code *code)
{
	struct v8_range *near = &v8->near;

	if (near->end == 0 || code->start < near->start)
		near->start = code->start;
	if (code->start + code->size > near->end)
		near->end = code->start + code->size;
}

/* Returns the cache entry of an instruction pointer, or the least recently used entry of its set. Code starts at
 * multiples of 64, so return addresses differ little in their lower bits: a hash selects the set. hash_pair multiplies
 * twice: with one product, evenly spaced addresses share a few sets for 1 of 250 secrets of the hash. */
static struct v8_known *known_of(struct v8 *v8, uint64_t pc)
{
	struct v8_known *set = v8->known[hash_pair(pc, 0) % V8_KNOWN], *oldest = set;

	for (struct v8_known *known = set; known < set + V8_WAYS; known++) {
		if (known->pc == pc)
			return known;
		if (known->used < oldest->used)
			oldest = known;
	}
	return oldest;
}

enum v8code_at v8code_find(struct v8 *v8, uint64_t pc, struct v8_code *code)
{
	struct v8_known *known;
	bool found;

	if (pc < 4096 || pc >= UINT64_C(1) << 47)
		return V8CODE_UNKNOWN;
	if (is_of_file(v8, pc))
		return V8CODE_OF_FILE;
	known = known_of(v8, pc);
	v8->lookups++;
	if (known->pc == pc && !known->start && v8->lookups - known->used < NONE_LOOKUPS)
		return V8CODE_UNKNOWN;
	if (known->pc == pc && known->start && code_at(v8, known->start, code) && contains(code, pc)) {
		known->used = v8->lookups;
		return V8CODE_GENERATED;
	}
	if (v8->searches == 0)
		return V8CODE_UNKNOWN;
	v8->searches--;
	found = search(v8, pc, code);
	if (v8->memory->budget && v8->memory->budget->over)
		return V8CODE_UNKNOWN;
	*known = (struct v8_known){ pc, found ? code->start : 0, v8->lookups };
	if (!found)
		return V8CODE_UNKNOWN;
	note_near(v8, code);
	return V8CODE_GENERATED;
}

/* ---- functions of optimized code -------------------------------------------------------------------------------- */

bool v8code_length(struct v8 *v8, uint64_t array, uint32_t *length)
{
	uint64_t word;
	uint32_t type;

	return v8heap_type(v8, array, &type) && type >= v8->layout.type.nonstring &&
	       v8heap_word(v8, array, ARRAY_LENGTH, &word) && v8heap_smi(word, length) && *length <= ELEMENTS_MAX;
}

bool v8code_element(struct v8 *v8, uint64_t array, uint32_t index, uint64_t *word)
{
	return memory_pointer(v8->memory, array - 1 + V8CODE_ELEMENTS + 8 * (uint64_t)index, word);
}

bool v8code_shared(struct v8 *v8, uint64_t word, uint64_t *shared)
{
	uint32_t type;

	*shared = word & ~UINT64_C(2);
	if (!v8heap_is_object(*shared) || !v8heap_type(v8, *shared, &type))
		return false;
	if (type == v8->layout.type.wrapper && v8->layout.deopt.wrapped)
		return v8heap_object(v8, *shared, v8->layout.deopt.wrapped, shared) &&
		       v8heap_is(v8, *shared, v8->layout.type.shared);
	return type == v8->layout.type.shared;
}

bool v8code_deopt(struct v8 *v8, const struct v8_code *code, uint64_t *data, uint32_t *length)
{
	return v8heap_object(v8, code->object, v8->layout.code.deopt, data) && v8code_length(v8, *data, length);
}

bool v8code_function(struct v8 *v8, const struct v8_code *code, uint64_t *shared)
{
	uint64_t data, word;
	uint32_t length;

	return v8code_deopt(v8, code, &data, &length) && length > v8->layout.deopt.shared &&
	       v8code_element(v8, data, v8->layout.deopt.shared, &word) && v8code_shared(v8, word, shared);
}

/* ---- inlined functions at an address ----------------------------------------------------------------------------- */

/* Returns the number of a zigzag code, whose lowest bit is the sign; a negative number is modulo 2^64. */
static uint64_t unfold(uint64_t value)
{
	return value >> 1 ^ (0 - (value & 1));
}

/* Sets *position to the source position at `offset` of code, by the last table entry that is not after it. Slow
 * paths and exits at the end of code have no entries of their own and follow the last one: *is_last is true there.
 * Returns false if there is no entry, or the table is malformed. */
static bool position_at(struct v8 *v8, const struct v8_code *code, uint64_t offset, uint64_t *position, bool *is_last)
{
	struct v8numbers table;
	uint64_t array, at = 0, value = 0;
	uint32_t length;
	bool any = false;

	if (!v8heap_object(v8, code->object, v8->layout.code.positions, &array) || !v8code_length(v8, array, &length) ||
	    length > V8CODE_TABLE)
		return false;
	*is_last = true;
	v8numbers_start(&table, v8, array - 1 + V8CODE_ELEMENTS, array - 1 + V8CODE_ELEMENTS + length);
	while (!v8numbers_end(&table)) {
		uint64_t step = unfold(v8numbers_next(&table)), change = unfold(v8numbers_next(&table));

		/* the entry of a statement stores its step; the entry of an expression stores -(step + 1) */
		step = step >> 63 ? ~step : step;
		if (table.bad || step > UINT32_MAX)
			return false;
		at += step;
		if (at > offset) {
			*is_last = false;
			break;
		}
		value += change;
		any = true;
	}
	*position = value;
	return any;
}

/* Arrays with the inlined functions of code: literals, which contain the SharedFunctionInfos, and InliningPositions;
 * `count` is the number of inlined functions. */
struct inlining {
	uint64_t literals, positions;
	uint32_t nliterals, npositions, count;
};

static bool inlining_read(struct v8 *v8, const struct v8_code *code, struct inlining *inlining)
{
	uint64_t data, word;
	uint32_t length, bytes;

	if (!v8code_deopt(v8, code, &data, &length) || length <= v8->layout.deopt.inlining ||
	    length <= v8->layout.deopt.shared || !v8code_element(v8, data, v8->layout.deopt.count, &word) ||
	    !v8heap_smi(word, &inlining->count) ||
	    !v8code_element(v8, data, v8->layout.deopt.literals, &inlining->literals) ||
	    !v8heap_is_object(inlining->literals) || !v8code_length(v8, inlining->literals, &inlining->nliterals) ||
	    !v8code_element(v8, data, v8->layout.deopt.inlining, &inlining->positions) ||
	    !v8heap_is_object(inlining->positions) || !v8code_length(v8, inlining->positions, &bytes))
		return false;
	inlining->npositions = bytes / POSITION_BYTES;
	return inlining->count <= inlining->nliterals;
}

uint32_t v8code_inlined(struct v8 *v8, const struct v8_code *code, uint64_t pc, bool exact,
			uint64_t inlined[V8CODE_INLINED])
{
	uint64_t position, offset = pc - code->start, at, index, word;
	struct inlining inlining;
	uint32_t n = 0;
	bool is_last;

	if (!exact && offset)
		offset--;
	if (!position_at(v8, code, offset, &position, &is_last) || (exact && is_last) || INLINING(position) == 0 ||
	    !inlining_read(v8, code, &inlining))
		return 0;
	while (INLINING(position)) {
		if (n == V8CODE_INLINED || INLINING(position) > inlining.npositions)
			return 0;
		at = inlining.positions - 1 + V8CODE_ELEMENTS + POSITION_BYTES * (uint64_t)(INLINING(position) - 1);
		if (!memory_pointer(v8->memory, at, &position) || !memory_u64(v8->memory, at + 8, 4, &index) ||
		    index >= inlining.count || !v8code_element(v8, inlining.literals, (uint32_t)index, &word) ||
		    !v8code_shared(v8, word, &inlined[n++]))
			return 0;
	}
	return n;
}
