/* SPDX-License-Identifier: Apache-2.0 */
/*
 * v8layout.h - the layout of V8's heap in one build, from the constants v8dbg_* that it exports for debuggers.
 *
 * Each build of node exports some 500 of them in .dynsym, stripped builds, too. Versions dropped some: these have
 * fallbacks by version, which the invariants of v8frames.c prove on each frame.
 */
#ifndef PJ_V8LAYOUT_H
#define PJ_V8LAYOUT_H

#include "runtimes/memory/loadedfile.h"

/* Offsets in bytes from the start of an object, and instance types. */
struct v8_layout {
	uint32_t version; /* major * 1000 + minor: 11003 */
	uint32_t build, patch;
	struct {
		uint32_t first, last; /* JSFunction and its subtypes */
		uint32_t shared, scope_info, script, code, bytecode_array, map, fixed_array, oddball, interpreter_data;
		uint32_t wrapper;       /* SharedFunctionInfoWrapper; 0: none */
		uint32_t baseline_data; /* before V8 10: a function's baseline Code and its BytecodeArray; 0: none */
		uint32_t nonstring;     /* first type that is no string */
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
		uint32_t first_vars;      /* index of the first word after the fixed ones */
		bool positions_are_fixed; /* they are words 3 and 4; otherwise they follow the names */
	} scope_info;
	struct {
		uint32_t data; /* start of the bytecode */
	} bytecode_array;
	struct {
		bool is_inline; /* the instructions follow the Code's header; otherwise `start` is a pointer */
		uint32_t start, size, flags, deopt, positions;
		uint32_t owner; /* !is_inline: bytes before the first instruction of the pointer to the Code */
		uint32_t align; /* alignment of the first instruction */
		uint32_t kind_mask, baseline;
	} code;
	struct {
		uint32_t count, literals, shared, inlining; /* indexes in the deoptimization data */
		uint32_t wrapped; /* offset of the SharedFunctionInfo in its wrapper; 0: there is no wrapper */
	} deopt;
};

/* Reads the layout. Returns NULL, or the reason, the end of a sentence: "it lacks ...". *found is false if the file
 * exports no version of V8, so that it has none. */
const char *v8layout_read(struct loadedfile *file, struct v8_layout *layout, bool *found);

#endif
