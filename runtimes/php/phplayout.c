/* SPDX-License-Identifier: Apache-2.0 */
/* Offsets of 7.4, 8.2 and 8.4 are those that the compiler computes from Debian's headers. Those of 8.0, 8.1, 8.3 and
 * 8.5 are derived from the members of zend_op_array (Zend/zend_compile.h). All are proven before use. */
#include "runtimes/php/phplayout.h"

static const struct php_layout layouts[PHPLAYOUTS] = {
	{ .version = 704, .current = 488, .code = { 60, 64, 136 } },
	{ .version = 800, .current = 488, .code = { 68, 72, 144 } },
	{ .version = 802, .current = 488, .code = { 80, 88, 152 } },
	{ .version = 803, .current = 488, .code = { 76, 80, 144 } },
	{ .version = 804, .current = 488, .code = { 96, 104, 168 } },
	{ .version = 805, .current = 512, .code = { 96, 104, 168 } },
};

uint32_t phplayout_code_bytes(const struct php_layout *layout)
{
	return layout->code.filename + 16;
}

bool phplayout_code(const struct php_layout *layout, const char *bytes, size_t n, struct php_code *code)
{
	*code = (struct php_code){ 0 };
	if (n < PHPFUNCTION_BYTES)
		return false;
	code->flags = phplayout_half(bytes, PHPFUNCTION_FLAGS);
	code->name = phplayout_word(bytes, PHPFUNCTION_NAME);
	code->scope = phplayout_word(bytes, PHPFUNCTION_SCOPE);
	if (bytes[0] == PHPFUNCTION_INTERNAL) {
		code->type = PHPFUNCTION_INTERNAL;
		return true;
	}
	if ((bytes[0] != PHPFUNCTION_USER && bytes[0] != PHPFUNCTION_EVAL) || n < phplayout_code_bytes(layout))
		return false;
	code->type = (uint8_t)bytes[0];
	code->opcodes = phplayout_word(bytes, layout->code.opcodes);
	code->last = phplayout_half(bytes, layout->code.last);
	code->filename = phplayout_word(bytes, layout->code.filename);
	code->first_line = phplayout_half(bytes, layout->code.filename + 8);
	code->last_line = phplayout_half(bytes, layout->code.filename + 12);
	return true;
}

void phplayout_get(uint32_t i, struct php_layout *layout)
{
	*layout = layouts[i < PHPLAYOUTS ? i : 0];
}
