/* SPDX-License-Identifier: Apache-2.0 */
/* phplayout.h - the structures of PHP's versions, and small numbers that all of them share. */
#ifndef PJ_PHPLAYOUT_H
#define PJ_PHPLAYOUT_H

#include "runtimes/php/php.h"

#include <string.h>

/* zend_execute_data */
#define PHPFRAME_OPLINE 0u
#define PHPFRAME_FUNCTION 24u
#define PHPFRAME_THIS 32u
#define PHPFRAME_INFO 40u /* This.u1.type_info */
#define PHPFRAME_PREVIOUS 48u
#define PHPFRAME_BYTES 56u

/* Bits of PHPFRAME_INFO */
#define PHPCALL_TYPE 0xffu /* of This */
#define PHPCALL_TOP (UINT32_C(1) << 17)
#define PHPTYPE_OBJECT 8u

/* zend_function, the part that all kinds have */
#define PHPFUNCTION_FLAGS 4u
#define PHPFUNCTION_NAME 8u
#define PHPFUNCTION_SCOPE 16u
#define PHPFUNCTION_BYTES 24u
#define PHPFUNCTION_TRAMPOLINE (UINT32_C(1) << 18) /* of __call: a copy with that method's name */

/* Values of its first byte */
#define PHPFUNCTION_INTERNAL 1u
#define PHPFUNCTION_USER 2u
#define PHPFUNCTION_EVAL 4u

#define PHPCLASS_NAME 8u

#define PHPGLOBALS_BYTES 4096u /* more than the size of executor_globals up to its instructions */

/* zend_op */
#define PHPOP_HANDLER 0u
#define PHPOP_LINE 24u
#define PHPOP_BYTES 32u

/* zend_string */
#define PHPSTRING_TYPE 4u /* low 4 bits: 6 */
#define PHPSTRING_IS_STRING 6u
#define PHPSTRING_LENGTH 16u
#define PHPSTRING_TEXT 24u

/* Number of rows of the table of layouts. */
#define PHPLAYOUTS 6u

/* Sets *layout to row i of the table, i < PHPLAYOUTS. Pure. */
void phplayout_get(uint32_t i, struct php_layout *layout);

/* Returns the number of bytes of a zend_op_array that are used. Pure. */
uint32_t phplayout_code_bytes(const struct php_layout *layout);

/* Sets *code to the function with n bytes at `bytes`: PHPFUNCTION_BYTES for an internal one, otherwise
 * phplayout_code_bytes(). Returns false if it is none. Pure. */
bool phplayout_code(const struct php_layout *layout, const char *bytes, size_t n, struct php_code *code);

/* Returns true for the instructions in executor_globals, which run in place of the function's own: that of a thrown
 * exception, for example. Pure. */
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
