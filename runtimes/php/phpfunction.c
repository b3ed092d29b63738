/* SPDX-License-Identifier: Apache-2.0 */
#include "runtimes/php/phpcompiled.h"
#include "runtimes/php/phplayout.h"

#define STRING_BYTES_MAX (UINT64_C(1) << 20) /* maximum length of a name in bytes; a longer one is invalid */
#define INSTRUCTIONS_MAX (UINT32_C(1) << 24)
#define LINES_MAX (UINT32_C(1) << 30)
/* size in bytes of a buffer for a zend_op_array up to its line numbers, in all versions */
#define CODE_BYTES_MAX 192u

/* A name under construction: n bytes so far, at most PHP_NAME_MAX - 1. cut: the name is longer. */
struct phptext {
	char *to;
	size_t n;
	bool cut;
};

static void phptext_add(struct phptext *text, const char *bytes, size_t n)
{
	size_t left = PHP_NAME_MAX - 1 - text->n;

	if (n > left) {
		n = left;
		text->cut = true;
	}
	memcpy(text->to + text->n, bytes, n);
	text->n += n;
}

static void phptext_end(struct phptext *text)
{
	text->to[text->n] = '\0';
	if (!text->cut)
		return;
	text->n = PHP_NAME_MAX - 4;
	/* bytes 10xxxxxx continue a code point: an incomplete code point at the end is dropped */
	while (text->n && ((unsigned char)text->to[text->n] & 0xc0) == 0x80)
		text->n--;
	memcpy(text->to + text->n, "...", sizeof("..."));
}

/* Appends a zend_string up to its first NUL. Returns false, with *text unchanged, if the memory is not a zend_string
 * or the string is empty. */
static bool phptext_string(struct phptext *text, struct memory *memory, uint64_t address)
{
	char head[PHPSTRING_TEXT], bytes[PHP_NAME_MAX];
	uint64_t length, n;

	if (!phplayout_is_address(address) || !memory_read(memory, address, head, sizeof(head)) ||
	    ((unsigned char)head[PHPSTRING_TYPE] & 15) != PHPSTRING_IS_STRING)
		return false;
	length = phplayout_word(head, PHPSTRING_LENGTH);
	n = length < sizeof(bytes) ? length : sizeof(bytes);
	if (length == 0 || length > STRING_BYTES_MAX ||
	    !memory_read(memory, address + PHPSTRING_TEXT, bytes, (size_t)n) || bytes[0] == '\0')
		return false;
	phptext_add(text, bytes, strnlen(bytes, (size_t)n));
	return true;
}

/* Returns true if the numbers of instructions and lines are plausible; false if the memory cannot be a
 * zend_op_array. */
static bool is_plausible(const struct php_code *code)
{
	return phplayout_is_address(code->opcodes) && code->last > 0 && code->last <= INSTRUCTIONS_MAX &&
	       code->first_line <= code->last_line && code->last_line <= LINES_MAX;
}

/* Sets address, line and first of *function by the frame's instruction. Returns false if the instruction is not one
 * of the function's: the function is not the frame's. Exception: code of the JIT compiler stores no instruction when it
 * calls a function, so the instruction of the innermost frame may be 0 or stale; it is then accepted if the copy has
 * the function. If the memory of the instruction has no handler in execute_ex or JIT code, the function has ended, and
 * the result is true only if the copy has the function: one from live memory may be another function. */
static bool place_instruction(const struct php *php, const struct php_code *code, const struct php_frame *frame,
			      struct php_function *function)
{
	uint64_t instruction = frame->instruction;
	char bytes[PHPOP_BYTES];

	function->address = code->opcodes;
	if (phplayout_is_global_instruction(php, instruction))
		return true;
	if (instruction < code->opcodes || instruction - code->opcodes >= (uint64_t)code->last * PHPOP_BYTES ||
	    (instruction - code->opcodes) % PHPOP_BYTES != 0)
		return frame->innermost && php->compiled.code.end && frame->code.type != 0;
	if (!memory_read(php->memory, instruction, bytes, sizeof(bytes)) ||
	    !phpcompiled_is_handler(php, phplayout_word(bytes, PHPOP_HANDLER)) ||
	    phplayout_half(bytes, PHPOP_LINE) > LINES_MAX)
		return frame->code.type != 0;
	function->first = instruction == code->opcodes;
	if (frame->innermost)
		return true;
	function->address = instruction;
	function->line = phplayout_half(bytes, PHPOP_LINE);
	return true;
}

/* Sets function->name to `Class::name` or `name`. Code without a name becomes `<main>`, `<eval>` or the path in
 * function->file. Returns false if a name is invalid. */
static bool name_function(const struct php *php, const struct php_code *code, const struct php_frame *frame,
			  struct php_function *function)
{
	struct phptext text = { .to = function->name };
	uint64_t class_name;

	if (!code->name) {
		if (code->type == PHPFUNCTION_INTERNAL)
			return false;
		if (frame->outermost)
			phptext_add(&text, "<main>", 6);
		else if (code->type == PHPFUNCTION_EVAL)
			phptext_add(&text, "<eval>", 6);
		else
			phptext_add(&text, function->file, strlen(function->file));
		phptext_end(&text);
		return true;
	}
	if (code->scope) {
		if (!phplayout_is_address(code->scope) ||
		    !memory_pointer(php->memory, code->scope + PHPCLASS_NAME, &class_name) ||
		    !phptext_string(&text, php->memory, class_name))
			return false;
		phptext_add(&text, "::", 2);
	}
	if (!phptext_string(&text, php->memory, code->name))
		return false;
	phptext_end(&text);
	return true;
}

/* Sets file, address and line of a function of a script. PHP frees the file name of eval() with its code: the file
 * stays empty if the memory has another string by now. Returns false if the function is invalid. */
static bool place_function(const struct php *php, const struct php_code *code, const struct php_frame *frame,
			   struct php_function *function)
{
	struct phptext file = { .to = function->file };

	if (!is_plausible(code) || !place_instruction(php, code, frame, function))
		return false;
	if (!phptext_string(&file, php->memory, code->filename))
		return code->type == PHPFUNCTION_EVAL;
	phptext_end(&file);
	if (code->type == PHPFUNCTION_EVAL && !str_ends(str_of(function->file), STR("eval()'d code")) &&
	    !str_ends(str_of(function->file), STR("...")))
		function->file[0] = '\0';
	return true;
}

/* Sets *code to the function of a frame, from the copy or else from live memory. Returns false if the function is not
 * readable, or of another kind than the frame. */
static bool find_function(const struct php *php, const struct php_frame *frame, struct php_code *code)
{
	char bytes[CODE_BYTES_MAX];
	size_t n = frame->kind == PHP_INTERNAL ? PHPFUNCTION_BYTES : phplayout_code_bytes(&php->layout);

	*code = frame->code;
	if (code->type == 0 && (n > sizeof(bytes) || !memory_read(php->memory, frame->function, bytes, n) ||
				!phplayout_code(&php->layout, bytes, n, code)))
		return false;
	return (code->type == PHPFUNCTION_INTERNAL) == (frame->kind == PHP_INTERNAL);
}

/* Returns true if the function is still in memory after its name was read, or is internal and therefore never freed.
 * Memory of an ended function starts with other bytes, and its strings may be replaced already. */
static bool function_lives(const struct php *php, const struct php_frame *frame, const struct php_code *code)
{
	char bytes[CODE_BYTES_MAX];
	size_t n = phplayout_code_bytes(&php->layout);
	struct php_code now;

	if (code->type == PHPFUNCTION_INTERNAL)
		return true;
	return n <= sizeof(bytes) && memory_bulk(php->memory, frame->function, bytes, n) &&
	       phplayout_code(&php->layout, bytes, n, &now) && now.type == code->type && now.name == code->name &&
	       now.scope == code->scope && now.opcodes == code->opcodes && now.last == code->last &&
	       now.filename == code->filename && now.first_line == code->first_line && now.last_line == code->last_line;
}

bool php_function(const struct php *php, const struct php_frame *frame, struct php_function *function)
{
	struct php_code code;

	function->line = 0;
	function->first = false;
	function->name[0] = function->file[0] = '\0';
	function->address = frame->kind == PHP_DELEGATING ? php->globals : frame->function;
	if (frame->kind == PHP_DELEGATING)
		memcpy(function->name, "{yield from}", sizeof("{yield from}"));
	if (frame->kind == PHP_DELEGATING || frame->kind == PHP_ENDED)
		return frame->kind == PHP_DELEGATING;
	if (!find_function(php, frame, &code))
		return false;
	if (code.type != PHPFUNCTION_INTERNAL && !(code.flags & PHPFUNCTION_TRAMPOLINE) &&
	    !place_function(php, &code, frame, function))
		return false;
	return name_function(php, &code, frame, function) && function->name[0] && function_lives(php, frame, &code);
}
