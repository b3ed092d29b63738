/* SPDX-License-Identifier: Apache-2.0 */
/*
 * v8layout.h - reads the layout of V8's heap in one build, from the v8dbg_* constants that it exports for debuggers.
 *
 * Each build of node exports some 500 of these constants in .dynsym, and strip does not remove them. Some versions lack
 * constants: v8layout.c has fallback values by version for them, and the invariants of v8frames.c prove these values on
 * each frame.
 */
#ifndef PJ_V8LAYOUT_H
#define PJ_V8LAYOUT_H

#include "runtimes/memory/loadedfile.h"

/* Layout of one build: instance types, and offsets of fields in bytes from the start of an object. */
struct v8_layout {
	uint32_t version; /* major * 1000 + minor: 11003 for V8 11.3 */
	uint32_t build, patch;
	struct {
		uint32_t first, last; /* first, last: lowest and highest instance type of JSFunction and its subtypes */
		uint32_t shared, scope_info, script, code, bytecode_array, map, fixed_array, oddball, interpreter_data;
		/* instance type of SharedFunctionInfoWrapper; 0 if the build has no such type */
		uint32_t wrapper;
		/* instance type of BaselineData (before V8 10), which has a function's baseline Code and its
		 * BytecodeArray; 0: no such type */
		uint32_t baseline_data;
		uint32_t nonstring; /* first instance type that is not a string */
	} type;
	struct {
		uint32_t type;
	} map;
	struct {
		uint32_t shared, context;
	} function;
	struct {
		uint32_t data, name, script;
	} shared;
	struct {
		uint32_t name, source, line_ends, line_offset;
	} script;
	struct {
		uint32_t first_vars; /* index of the first word after the fixed words of a ScopeInfo */
		/* true if start and end position are words 3 and 4 of a ScopeInfo; false if they follow the variables
		 * and names */
		bool positions_are_fixed;
	} scope_info;
	struct {
		uint32_t data; /* offset of the first bytecode in a BytecodeArray */
	} bytecode_array;
	struct {
		/* true if the instructions follow the header of the Code object; false if `start` is the offset of a
		 * pointer to them */
		bool is_inline;
		uint32_t start, size, flags, deopt, positions;
		/* distance in bytes from the start of the Code object (is_inline), or from the pointer to the Code
		 * object, to the first instruction */
		uint32_t owner;
		uint32_t align;               /* alignment of the first instruction in bytes */
		uint32_t kind_mask, baseline; /* mask of the CodeKind in the flags; CodeKind of baseline code */
	} code;
	struct {
		/* indices in the deoptimization data of these elements: number of inlined functions, literals,
		 * SharedFunctionInfo, InliningPositions */
		uint32_t count, literals, shared, inlining;
		/* offset of the SharedFunctionInfo pointer in its wrapper; 0 if the build has no wrappers */
		uint32_t wrapped;
	} deopt;
};

/* Reads the layout. Returns NULL, or the reason of a failure as the end of a sentence: "it lacks ...". *found is
 * false if the file exports no version of V8 and therefore contains no V8. */
const char *v8layout_read(struct loadedfile *file, struct v8_layout *layout, bool *found);

#endif
