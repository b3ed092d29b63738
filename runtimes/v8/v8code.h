/* SPDX-License-Identifier: Apache-2.0 */
/*
 * v8code.h - code that V8 generated: finds it by an instruction pointer, and the functions that are inlined there.
 *
 * Code of a function that was replaced, or that was entered in a loop (OSR), is not that of its JSFunction. So it is
 * found by its instructions: a pointer to the Code lies before the first one, and the Code leads back to it. Tables of
 * the Code may be of any size: each has a limit, and the budget bounds all.
 */
#ifndef PJ_V8CODE_H
#define PJ_V8CODE_H

#include "runtimes/v8/v8heap.h"

#define V8CODE_BYTES (256u << 10) /* maximum distance of an instruction from the first one */
#define V8CODE_SEARCHES 8u        /* searches for unknown code for one stack */
#define V8CODE_INLINED 32u        /* maximum depth of inlined functions */
#define V8CODE_TABLE 65536u       /* maximum bytes of a table of source positions */

#define V8CODE_ELEMENTS 16u /* offset of the first element of an array, of words or bytes */

struct v8_code {
	uint64_t object, start; /* tagged pointer to the Code; address of the first instruction */
	uint32_t size, kind;    /* kind: V8's CodeKind */
};

enum v8code_at {
	V8CODE_GENERATED, /* by V8 */
	V8CODE_OF_FILE,   /* code of a mapped file, as the interpreter and other builtins */
	V8CODE_UNKNOWN    /* no code was found, or the stack has had its searches */
};

/* Finds the code of the frame at pc. Sets *code if it is V8CODE_GENERATED. */
enum v8code_at v8code_find(struct v8 *v8, uint64_t pc, struct v8_code *code);

/* Returns true if the address is between those of code that was found. */
bool v8code_is_near(const struct v8 *v8, uint64_t pc);

/* Sets *shared to the function of optimized code. Returns false if the code does not identify it: code that never
 * deoptimizes has no such data. */
bool v8code_function(struct v8 *v8, const struct v8_code *code, uint64_t *shared);

/* Sets inlined[0..n) to the functions that are inlined at pc, the innermost first. exact: pc is no return address.
 * Returns n; 0 also if the tables are contradictory or too long, and at a pc that is exact behind the last position. */
uint32_t v8code_inlined(struct v8 *v8, const struct v8_code *code, uint64_t pc, bool exact,
			uint64_t inlined[V8CODE_INLINED]);

/* Sets *length to the number of elements of an array, of words or bytes. Returns false if it is none. */
bool v8code_length(struct v8 *v8, uint64_t array, uint32_t *length);
/* Reads an element of an array of words. */
bool v8code_element(struct v8 *v8, uint64_t array, uint32_t index, uint64_t *word);
/* Sets *shared to the SharedFunctionInfo that a word leads to, itself or by its wrapper; a literal may be weak. */
bool v8code_shared(struct v8 *v8, uint64_t word, uint64_t *shared);
/* Finds the deoptimization data of code; *length is 0 if it has none. */
bool v8code_deopt(struct v8 *v8, const struct v8_code *code, uint64_t *data, uint32_t *length);

#endif
