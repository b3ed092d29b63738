/* SPDX-License-Identifier: Apache-2.0 */
#include "runtimes/php/phplayout.h"

#define STRING_BYTES_MAX (UINT64_C(1) << 20) /* limit for the length of a name */
#define INSTRUCTIONS_MAX (UINT32_C(1) << 24)
#define LINES_MAX (UINT32_C(1) << 30)
#define CODE_BYTES_MAX 192u /* of a zend_op_array, up to its lines */

/* A name that is being put together: n of PHP_NAME_MAX - 1 bytes. */
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
	/* Bytes 10xxxxxx continue a code point: drop it. */
	while (text->n && ((unsigned char)text->to[text->n] & 0xc0) == 0x80)
		text->n--;
	memcpy(text->to + text->n, "...", sizeof("..."));
}

/* Appends a zend_string up to its first NUL. Returns false, with *text unchanged, if it is none, or is empty. */
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

/* Returns true if the instructions and lines are plausible. */
static bool is_plausible(const struct php_code *code)
{
	return phplayout_is_address(code->opcodes) && code->last > 0 && code->last <= INSTRUCTIONS_MAX &&
	       code->first_line <= code->last_line && code->last_line <= LINES_MAX;
}

/* Sets address and line. An instruction of another function shows that this one is not the frame's. One that is not
 * part of execute_ex is that of a function that has ended; if the copy does not have the function, it may be another
 * one, too.
 */
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
		return false;
	if (!memory_read(php->memory, instruction, bytes, sizeof(bytes)) ||
	    !evalcode_holds(&php->eval, phplayout_word(bytes, PHPOP_HANDLER)) ||
	    phplayout_half(bytes, PHPOP_LINE) > LINES_MAX)
		return frame->code.type != 0;
	function->first = instruction == code->opcodes;
	if (frame->innermost)
		return true;
	function->address = instruction;
	function->line = phplayout_half(bytes, PHPOP_LINE);
	return true;
}

/* Sets the name of a function: that of its class before it, or that of code without a name. */
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

/* Sets file, address and line of a function of a script. The file of eval's code is freed with it: it is left out if it
 * is another string by now. */
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

/* Sets *code to the function of a frame. */
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

/* Returns true if memory still has the function after its name was read, or if it is PHP's own, which never ends. The
 * memory of a function that has ended begins with other bytes, and its strings may be others already. */
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
