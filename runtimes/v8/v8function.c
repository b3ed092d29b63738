/* SPDX-License-Identifier: Apache-2.0 */
#include "runtimes/v8/v8heap.h"

#include <string.h>

#define WORD(index) (8 + 8 * (index)) /* offset of word `index` of a ScopeInfo: they follow its map */
#define NAMES_MAX 75u                 /* with more variables, a ScopeInfo has a table of their names */
#define VARIABLES_MAX 65536u
#define LINES_MAX (1u << 28)
#define CHUNK 4096u /* bytes of source that are looked at, at once */

/* Bits of a ScopeInfo's flags: the type of the scope, and what follows the variables. The same from V8 9.4 to 14. */
#define SCOPE_TYPE 15u
#define SCOPE_CLASS_VARIABLE (1u << 10)
#define SCOPE_FUNCTION_VARIABLE (3u << 12)
#define SCOPE_INFERRED_NAME (1u << 14)

/* What a ScopeInfo has of its function: strings, 0: none. */
struct scope {
	uint64_t name, inferred;
	uint32_t start;
	bool has_start;
};

/* Reads a word of a ScopeInfo. */
static bool scope_word(struct v8 *v8, uint64_t scope, uint32_t index, uint64_t *word)
{
	return v8heap_word(v8, scope, WORD(index), word);
}

static bool scope_smi(struct v8 *v8, uint64_t scope, uint32_t index, uint32_t *value)
{
	uint64_t word;

	return scope_word(v8, scope, index, &word) && v8heap_smi(word, value);
}

/* Returns true if the word is a string with characters, an empty one or none (then *string is 0). */
static bool scope_string(struct v8 *v8, uint64_t word, uint64_t *string)
{
	uint32_t length, type;

	*string = 0;
	if (word == 0)
		return true;
	if (!v8heap_is_object(word) || !v8heap_type(v8, word, &type))
		return false;
	if (type == v8->layout.type.oddball)
		return true;
	if (!v8heap_length(v8, word, &length))
		return false;
	*string = length ? word : 0;
	return true;
}

static bool scope_positions(struct v8 *v8, uint64_t object, uint32_t index, struct scope *scope)
{
	uint32_t end;

	scope->has_start = scope_smi(v8, object, index, &scope->start) && scope_smi(v8, object, index + 1, &end) &&
			   scope->start <= end;
	return scope->has_start;
}

/* Sets *index to that of the word after the variables. A module has a count before them. */
static bool scope_after_variables(struct v8 *v8, uint64_t object, uint32_t *index)
{
	uint32_t first = v8->layout.scope_info.first_vars, n, type, count;
	uint64_t word;

	if (!scope_smi(v8, object, 2, &n) || n > VARIABLES_MAX)
		return false;
	if (n && (!scope_word(v8, object, first, &word) || !v8heap_is_object(word))) {
		first++;
		if (!scope_word(v8, object, first, &word) || !v8heap_is_object(word))
			return false;
	}
	if (n && !v8heap_type(v8, word, &type))
		return false;
	count = n && type >= v8->layout.type.nonstring ? 1 : n;
	*index = first + count + n;
	return n < NAMES_MAX || count == 1 || count == n;
}

/* The flags are a Smi; since V8 13, with fixed positions, a number of 32 bits. */
static bool scope_flags(struct v8 *v8, uint64_t object, uint32_t *flags)
{
	uint64_t word;

	if (!scope_word(v8, object, 0, &word))
		return false;
	*flags = (uint32_t)word;
	return (*flags && v8->layout.scope_info.positions_are_fixed) || v8heap_smi(word, flags);
}

/* Reads a ScopeInfo. Returns false if it contradicts its flags. */
static bool scope_read(struct v8 *v8, uint64_t object, struct scope *scope)
{
	uint32_t flags, index;
	uint64_t word;

	*scope = (struct scope){ 0 };
	if (!scope_flags(v8, object, &flags) || !scope_after_variables(v8, object, &index))
		return false;
	index += (flags & SCOPE_CLASS_VARIABLE) != 0;
	if (flags & SCOPE_FUNCTION_VARIABLE) {
		if (!scope_word(v8, object, index, &word) || !scope_string(v8, word, &scope->name) ||
		    !scope_word(v8, object, index + 1, &word) || (uint32_t)word)
			return false;
		index += 2;
	}
	if (flags & SCOPE_INFERRED_NAME) {
		if (!scope_word(v8, object, index, &word) || !scope_string(v8, word, &scope->inferred))
			return false;
		index++;
	}
	scope_positions(v8, object, v8->layout.scope_info.positions_are_fixed ? 3 : index, scope);
	return true;
}

/* ---- lines ------------------------------------------------------------------------------------------------------ */

/* Counts in a FixedArray of the ends of lines those before `position`. */
static bool line_by_ends(struct v8 *v8, uint64_t ends, uint32_t position, uint32_t *line)
{
	uint32_t low = 0, high, value;
	uint64_t word;

	if (!v8heap_is(v8, ends, v8->layout.type.fixed_array) || !v8heap_word(v8, ends, 8, &word) ||
	    !v8heap_smi(word, &high) || high == 0 || high > LINES_MAX)
		return false;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (!memory_pointer(v8->memory, ends - 1 + 16 + 8 * (uint64_t)middle, &word) ||
		    !v8heap_smi(word, &value))
			return false;
		if (value < position)
			low = middle + 1;
		else
			high = middle;
	}
	*line = low + 1;
	return true;
}

/* Counts the ends of lines in n characters: LF, CR without LF, and in two bytes U+2028 and U+2029. *cr: the last
 * character was CR. */
static uint32_t count_lines(const unsigned char *bytes, uint32_t n, uint32_t width, bool *cr)
{
	uint32_t lines = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t unit = width == 1 ? bytes[i] : bytes[2 * i] | (uint32_t)bytes[2 * i + 1] << 8;

		lines += *cr && unit != '\n';
		lines += unit == '\n' || unit == 0x2028 || unit == 0x2029;
		*cr = unit == '\r';
	}
	return lines;
}

/* Counts the lines of a source before `position`, within the characters that the stack has left. */
static bool line_by_source(struct v8 *v8, uint64_t source, uint32_t position, uint32_t *line)
{
	unsigned char bytes[CHUNK];
	struct v8_flat flat;
	uint32_t part;
	bool cr = false;

	if (!v8heap_flat(v8, source, &flat) || position > flat.length || position > v8->characters)
		return false;
	v8->characters -= position;
	*line = 1;
	for (uint32_t at = 0; at < position; at += part) {
		part = position - at < CHUNK / flat.width ? position - at : CHUNK / flat.width;
		if (!budget_steps(v8->memory->budget, 1 + part / 64) ||
		    !memory_bulk(v8->memory, flat.address + (uint64_t)at * flat.width, bytes, part * flat.width))
			return false;
		*line += count_lines(bytes, part, flat.width, &cr);
	}
	*line += cr;
	return true;
}

/* Returns the line of a position in a script; 0 if it is unknown. */
static uint32_t script_line(struct v8 *v8, uint64_t script, uint32_t position)
{
	uint64_t word;
	uint32_t line = 0, offset = 0;

	if (v8heap_word(v8, script, v8->layout.script.line_offset, &word) && !v8heap_smi(word, &offset))
		return 0;
	if (!(v8heap_object(v8, script, v8->layout.script.line_ends, &word) &&
	      line_by_ends(v8, word, position, &line)) &&
	    !(v8heap_object(v8, script, v8->layout.script.source, &word) && line_by_source(v8, word, position, &line)))
		return 0;
	return offset < LINES_MAX && line < LINES_MAX ? line + offset : 0;
}

/* ---- functions -------------------------------------------------------------------------------------------------- */

/* Reads name and start of a function: its own name, or the one that V8 inferred. */
static bool read_name(struct v8 *v8, uint64_t shared, struct v8_function *function, struct scope *scope)
{
	uint64_t word, string = 0;
	uint32_t type;

	*scope = (struct scope){ 0 };
	if (!v8heap_word(v8, shared, v8->layout.shared.name, &word))
		return false;
	if (v8heap_is_object(word)) {
		if (!v8heap_type(v8, word, &type))
			return false;
		if (type == v8->layout.type.scope_info) {
			if (!scope_read(v8, word, scope))
				return false;
			string = scope->name ? scope->name : scope->inferred;
		} else if (!scope_string(v8, word, &string)) {
			return false;
		}
	} else if ((uint32_t)word) {
		return false;
	}
	function->has_name = string != 0;
	if (!string) {
		memcpy(function->name, "(anonymous)", sizeof("(anonymous)"));
		return true;
	}
	return v8heap_string(v8, string, function->name, sizeof(function->name));
}

bool v8_function(struct v8 *v8, uint64_t shared, struct v8_function *function)
{
	uint64_t script, name;
	struct scope scope;

	*function = (struct v8_function){ .line = 0 };
	if (!v8heap_is(v8, shared, v8->layout.type.shared) || !read_name(v8, shared, function, &scope))
		return false;
	if (!v8heap_object(v8, shared, v8->layout.shared.script, &script) ||
	    !v8heap_is(v8, script, v8->layout.type.script))
		return true;
	if (v8heap_object(v8, script, v8->layout.script.name, &name) &&
	    !v8heap_string(v8, name, function->file, sizeof(function->file)))
		function->file[0] = 0;
	if (scope.has_start && function->file[0])
		function->line = script_line(v8, script, scope.start);
	return true;
}
