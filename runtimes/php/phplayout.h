/* SPDX-License-Identifier: Apache-2.0 */
/* phplayout.h - offsets in PHP's structures: those that all supported versions share, and a table of the others. */
#ifndef PJ_PHPLAYOUT_H
#define PJ_PHPLAYOUT_H

#include "runtimes/php/php.h"

#include <string.h>

/* Offsets in a zend_execute_data. */
#define PHPFRAME_OPLINE 0u
#define PHPFRAME_FUNCTION 24u
#define PHPFRAME_THIS 32u
#define PHPFRAME_INFO 40u /* offset of This.u1.type_info: type of This, and flags of the call */
#define PHPFRAME_PREVIOUS 48u
#define PHPFRAME_BYTES 56u

/* Bits of PHPFRAME_INFO. */
#define PHPCALL_TYPE 0xffu              /* bits with the type of This */
#define PHPCALL_TOP (UINT32_C(1) << 17) /* ZEND_CALL_TOP: entry frame, with which an activation of execute_ex ends */
#define PHPTYPE_OBJECT 8u

/* Offsets in a zend_function: members that all kinds of functions have. */
#define PHPFUNCTION_FLAGS 4u
#define PHPFUNCTION_NAME 8u
#define PHPFUNCTION_SCOPE 16u
#define PHPFUNCTION_BYTES 24u
/* flag of a temporary function that calls __call; it has the name of the called method */
#define PHPFUNCTION_TRAMPOLINE (UINT32_C(1) << 18)

/* Values of the first byte of a zend_function: its kind. */
#define PHPFUNCTION_INTERNAL 1u
#define PHPFUNCTION_USER 2u
#define PHPFUNCTION_EVAL 4u

#define PHPCLASS_NAME 8u

#define PHPGLOBALS_BYTES 4096u /* upper bound of the offsets of the instructions in executor_globals */

/* Offsets in a zend_op. */
#define PHPOP_HANDLER 0u
#define PHPOP_LINE 24u
#define PHPOP_BYTES 32u

/* Offsets in a zend_string. */
#define PHPSTRING_TYPE 4u /* offset of the type; the low 4 bits of a string's type are PHPSTRING_IS_STRING */
#define PHPSTRING_IS_STRING 6u
#define PHPSTRING_LENGTH 16u
#define PHPSTRING_TEXT 24u

/* Number of rows in the table of layouts. */
#define PHPLAYOUTS 6u

/* Sets *layout to row i of the table, i < PHPLAYOUTS. Pure. */
void phplayout_get(uint32_t i, struct php_layout *layout);

/* Returns the number of bytes at the start of a zend_op_array that contain all used members. Pure. */
uint32_t phplayout_code_bytes(const struct php_layout *layout);

/* Sets *code to the function whose first n bytes are at `bytes`. n must be at least PHPFUNCTION_BYTES for an
 * internal function, and phplayout_code_bytes() for another one. Returns false if the bytes are not a function.
 * Pure. */
bool phplayout_code(const struct php_layout *layout, const char *bytes, size_t n, struct php_code *code);

/* Returns true if the instruction is in executor_globals: PHP runs such instructions in place of the function's own,
 * for example while an exception is active. Pure. */
static inline bool phplayout_is_global_instruction(const struct php *php, uint64_t instruction)
{
	return instruction >= php->globals && instruction - php->globals < PHPGLOBALS_BYTES;
}

static inline uint64_t phplayout_word(const char *bytes, uint32_t at)
{
	uint64_t value;

	memcpy(&value, bytes + at, sizeof(value));
	return value;
}

static inline uint32_t phplayout_half(const char *bytes, uint32_t at)
{
	uint32_t value;

	memcpy(&value, bytes + at, sizeof(value));
	return value;
}

static inline bool phplayout_is_address(uint64_t value)
{
	return value % 8 == 0 && value >= 4096 && value < (uint64_t)1 << 47;
}

#endif
