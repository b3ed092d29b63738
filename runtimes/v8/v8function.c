/* SPDX-License-Identifier: Apache-2.0 */
#include "runtimes/v8/v8lines.h"

#include <string.h>

#define WORD(index) (8 + 8 * (index)) /* offset in bytes of word `index` of a ScopeInfo; the words follow its map */
/* NAMES_MAX: number of variables from which on a ScopeInfo has its variable names in a table of their own.
 * VARIABLES_MAX: maximum number of variables; a ScopeInfo with more is invalid. */
#define NAMES_MAX 75u
#define VARIABLES_MAX 65536u

/* Bits of a ScopeInfo's flags: the type of the scope, and which words follow the variables. These bits are the same
 * from V8 9.4 to 14, but only 9.4 has a word for a receiver in a register or in the context. */
#define SCOPE_TYPE 15u
#define SCOPE_RECEIVER(flags) ((flags) >> 7 & 3)
#define SCOPE_CLASS_VARIABLE (1u << 10)
#define SCOPE_FUNCTION_VARIABLE (3u << 12)
#define SCOPE_INFERRED_NAME (1u << 14)

/* Fields of a ScopeInfo that describe its function. `name` and `inferred` are tagged pointers to strings, 0: none;
 * `start` is a position in the script. */
struct scope {
	uint64_t name, inferred;
	uint32_t start;
	bool has_start;
};

/* Sets *word to word `index` of a ScopeInfo. Returns false if the word is not readable. */
static bool scope_word(struct v8 *v8, uint64_t scope, uint32_t index, uint64_t *word)
{
	return v8heap_word(v8, scope, WORD(index), word);
}

static bool scope_smi(struct v8 *v8, uint64_t scope, uint32_t index, uint32_t *value)
{
	uint64_t word;

	return scope_word(v8, scope, index, &word) && v8heap_smi(word, value);
}

/* Sets *string to the word if it is a string with characters, and to 0 if it is an empty string, an oddball
 * (undefined) or 0. Returns false for any other word. */
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

/* Sets *index to the index of the first word after the variables. In a ScopeInfo of a module, an additional count comes
 * before the variables. Returns false if the ScopeInfo is not readable or invalid. */
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

/* Sets *flags to the flags of a ScopeInfo: a Smi; since V8 13, whose ScopeInfos have fixed positions, a 32-bit number.
 * Returns false if the flags are not readable or not such a number. */
static bool scope_flags(struct v8 *v8, uint64_t object, uint32_t *flags)
{
	uint64_t word;

	if (!scope_word(v8, object, 0, &word))
		return false;
	*flags = (uint32_t)word;
	return (*flags && v8->layout.scope_info.positions_are_fixed) || v8heap_smi(word, flags);
}

/* Reads a ScopeInfo. Returns false if its words contradict its flags. */
static bool scope_read(struct v8 *v8, uint64_t object, struct scope *scope)
{
	uint32_t flags, index;
	uint64_t word;

	*scope = (struct scope){ 0 };
	if (!scope_flags(v8, object, &flags) || !scope_after_variables(v8, object, &index))
		return false;
	index += (flags & SCOPE_CLASS_VARIABLE) != 0;
	index += v8->layout.version < 10000 && (SCOPE_RECEIVER(flags) == 1 || SCOPE_RECEIVER(flags) == 2);
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

/* ---- names and positions of functions ---------------------------------------------------------------------------- */

/* Sets name and has_name of *function: its own name, or the name that V8 inferred. Sets *scope if the function has a
 * ScopeInfo. Returns false if the objects are invalid. */
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
	if (scope.has_start && function->file[0]) {
		function->position = scope.start;
		function->line_later = !v8lines_at(v8, script, scope.start, &function->line);
	}
	return true;
}
