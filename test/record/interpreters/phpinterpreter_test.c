/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of cached names of PHP frames: they tell functions of two scripts apart that have the same addresses. */
/* covers: record/interpreters/phpinterpreter.c */
#include "record/interpreters/phpinterpreter.c"

#include "test/lib/tap.h"

int main(void)
{
	struct php_frame frame = { .function = 0x7000, .instruction = 0x8000 }, other;

	frame.code =
		(struct php_code){ .type = 2, .first_line = 3, .last_line = 9, .name = 0x7100, .filename = 0x7200 };
	other = frame;
	other.code.flags = 1;
	is_u64(phpinterpreter_scope(&other), phpinterpreter_scope(&frame), "the same function: the key is the same");
	other.code.filename = 0x7300;
	ok(phpinterpreter_scope(&other) != phpinterpreter_scope(&frame),
	   "another file at the same addresses: another key");
	other = frame;
	other.code.last_line = 10;
	ok(phpinterpreter_scope(&other) != phpinterpreter_scope(&frame), "  other lines, too");
	other = frame;
	other.innermost = true;
	ok(phpinterpreter_scope(&other) != phpinterpreter_scope(&frame), "  another place in the stack, too");
	other.code.type = 0;
	is_u64(phpinterpreter_scope(&other), SCOPE_INNERMOST, "a function that the copy lacks: only its place");
	return done();
}
