/* SPDX-License-Identifier: Apache-2.0 */
/*
 * v8code.h - finds the generated code at an instruction pointer, and the functions that are inlined there.
 *
 * A frame may run code that its JSFunction no longer points to: code that V8 has replaced since, or code that was
 * entered in a loop (OSR). So the code is found by its instructions: a pointer to the Code object lies before the first
 * instruction, and the Code object must lead back to that instruction. Tables of a Code object may have any size: each
 * has a limit, and the budget bounds all.
 */
#ifndef PJ_V8CODE_H
#define PJ_V8CODE_H

#include "runtimes/v8/v8heap.h"

/* maximum distance in bytes of an instruction from the first one of its code; code farther back is not found */
#define V8CODE_BYTES (256u << 10)
/* maximum number of searches for unknown code for one stack; further code is V8CODE_UNKNOWN */
#define V8CODE_SEARCHES 8u
#define V8CODE_INLINED 32u  /* maximum depth of inlined functions; with more, none is reported */
#define V8CODE_TABLE 65536u /* maximum size of a table of source positions, in bytes; a larger one is refused */

#define V8CODE_ELEMENTS 16u /* offset of the first element in an array of words or bytes */

struct v8_code {
	uint64_t object, start; /* tagged pointer to the Code object; address of the first instruction */
	uint32_t size, kind;    /* size of the instructions in bytes; V8's CodeKind */
};

enum v8code_at {
	V8CODE_GENERATED, /* code that V8 generated */
	V8CODE_OF_FILE,   /* code in a mapped file, such as the interpreter and other builtins */
	V8CODE_UNKNOWN    /* no code was found, or the stack has no searches left */
};

/* Finds the code of a frame by its instruction pointer pc, and returns what is there. Sets *code only if the result is
 * V8CODE_GENERATED. */
enum v8code_at v8code_find(struct v8 *v8, uint64_t pc, struct v8_code *code);

/* Returns true if pc is between the lowest and the highest generated code that was found so far. Pure. */
bool v8code_is_near(const struct v8 *v8, uint64_t pc);

/* Sets *shared to the SharedFunctionInfo of optimized code. Returns false if the code does not identify its
 * function: code that never deoptimizes has no deoptimization data. */
bool v8code_function(struct v8 *v8, const struct v8_code *code, uint64_t *shared);

/* Sets inlined[0..n) to the functions that are inlined at pc, innermost first. exact: pc is an interrupted address,
 * not a return address. Returns n. Returns 0 also if the tables are contradictory or too long, and for an exact pc
 * after the last source position. */
uint32_t v8code_inlined(struct v8 *v8, const struct v8_code *code, uint64_t pc, bool exact,
			uint64_t inlined[V8CODE_INLINED]);

/* Sets *length to the number of elements of an array of words or bytes. Returns false if the object is not an array. */
bool v8code_length(struct v8 *v8, uint64_t array, uint32_t *length);
/* Sets *word to element `index` of an array of words. The caller checks `index` against the array's length. Returns
 * false if the element is not readable. */
bool v8code_element(struct v8 *v8, uint64_t array, uint32_t index, uint64_t *word);
/* Sets *shared to the SharedFunctionInfo that a tagged word points to, directly or through a
 * SharedFunctionInfoWrapper. The word may be a weak pointer, as in an array of literals. Returns false for a pointer to
 * any other object. */
bool v8code_shared(struct v8 *v8, uint64_t word, uint64_t *shared);
/* Sets *data to the array of deoptimization data of code, and *length to the number of its elements; to 0 if the code
 * has no such data. Returns false if the data is not readable. */
bool v8code_deopt(struct v8 *v8, const struct v8_code *code, uint64_t *data, uint32_t *length);

#endif
