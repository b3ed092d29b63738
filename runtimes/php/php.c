/* SPDX-License-Identifier: Apache-2.0 */
#include "common/arena.h"
#include "runtimes/memory/livecopy.h"
#include "runtimes/php/phpcompiled.h"
#include "runtimes/php/phplayout.h"

#include <stdio.h>
#include <stdlib.h>

#define ATTEMPTS 32u
/* EMPTY_ATTEMPTS: number of attempts without a frame that proves the layout, after which the attempts end: the process
 * may be between two scripts. FRAMES_PROVEN, COPY_BYTES: maximum number of frames, and maximum bytes of memory, that
 * one attempt copies. */
#define EMPTY_ATTEMPTS 4u
#define FRAMES_PROVEN 64u
#define COPY_BYTES (128u << 10)
#define VM_HYBRID 4u            /* ZEND_VM_KIND_HYBRID: the handlers of all instructions are parts of execute_ex */
#define FUNCTION_MAX (1u << 20) /* maximum size in bytes of zend_fiber_switch_context; a larger one is refused */
#define HANDLER_MIN 65536u      /* lowest address at which code may be mapped */
/* maximum number of instructions of a function that are examined to detect unknown code of the JIT compiler */
#define HANDLERS_MAX 32u

/* ---- paths of PHP ------------------------------------------------------------------------------------------------ */

bool php_is_library(struct str path)
{
	struct str name = path;
	bool library;

	if (str_ends(name, STR(" (deleted)")))
		name.n -= sizeof(" (deleted)") - 1;
	name = str_from(name, (size_t)(str_rfind(name, '/') + 1));
	library = str_starts(name, STR("libphp"));
	if (!library && !str_starts(name, STR("php")))
		return false;
	name = str_from(name, library ? 6 : 3);
	if (!library && (str_starts(name, STR("-fpm")) || str_starts(name, STR("-cgi"))))
		name = str_from(name, 4);
	while (name.n && (byte_is_digit(name.p[0]) || (name.n > 1 && name.p[0] == '.' && byte_is_digit(name.p[1]))))
		name = str_from(name, 1);
	return library ? str_starts(name, STR(".so")) : name.n == 0;
}

/* ---- exported functions ------------------------------------------------------------------------------------------ */

#define CODE_BYTES 24u

/* Reads the first bytes of an exported function, after its ENDBR64. Sets *at to the address of code[0]. Returns
 * false if the function does not exist or is not readable. */
static bool read_accessor(struct php *php, struct str name, unsigned char code[CODE_BYTES], uint64_t *at)
{
	static const unsigned char endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };

	if (!loadedfile_symbol(&php->file, name, at) || !memory_read(php->memory, *at, code, CODE_BYTES))
		return false;
	if (memcmp(code, endbr64, sizeof(endbr64)) != 0)
		return true;
	*at += sizeof(endbr64);
	return memory_read(php->memory, *at, code, CODE_BYTES);
}

static uint32_t number_at(const unsigned char *bytes)
{
	uint32_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

/* Returns the target address of a RIP-relative instruction of n bytes at `at`. */
static uint64_t relative(uint64_t at, unsigned n, const unsigned char *displacement)
{
	return at + n + (uint64_t)(int64_t)(int32_t)number_at(displacement);
}

/* Returns the version of PHP as major * 100 + minor, or 0. get_zend_version is mov rel32(%rip),%rax; ret, and
 * returns "Zend Engine v4.2.36, ...". PHP 7.4 has version 3.4 of the Zend Engine, PHP 8.N has version 4.N. */
static uint32_t find_version(struct php *php)
{
	static const char prefix[] = "Zend Engine v";
	unsigned char code[CODE_BYTES];
	char text[sizeof(prefix) + 8];
	uint64_t at, address;
	unsigned major, minor;
	int used = 0;

	if (!read_accessor(php, STR("get_zend_version"), code, &at) || memcmp(code, "\x48\x8b\x05", 3) != 0 ||
	    code[7] != 0xc3 || !memory_pointer(php->memory, relative(at, 7, code + 3), &address) ||
	    !memory_read(php->memory, address, text, sizeof(text)))
		return 0;
	text[sizeof(text) - 1] = '\0';
	if (strncmp(text, prefix, sizeof(prefix) - 1) != 0 ||
	    sscanf(text + sizeof(prefix) - 1, "%1u.%2u.%n", &major, &minor, &used) != 2 || !used || major < 3)
		return 0;
	major += 4;
	snprintf(php->version, sizeof(php->version), "%u.%u", major, minor);
	return major * 100 + minor;
}

/* Returns true if the 7-byte instruction that starts at code[0], and at address `at` in the process, loads the address
 * of executor_globals: lea rel32(%rip),%rax in a program, mov GOT(%rip),%rax in a library. */
static bool takes_globals(struct php *php, const unsigned char *code, uint64_t at)
{
	uint64_t address = relative(at, 7, code + 3);

	if (memcmp(code, "\x48\x8b\x05", 3) == 0)
		return memory_pointer(php->memory, address, &address) && address == php->globals;
	return memcmp(code, "\x48\x8d\x05", 3) == 0 && address == php->globals;
}

/* Sets *offset to the offset in executor_globals of the pointer to the innermost frame. zend_is_executing compares this
 * pointer with 0: it loads the address of executor_globals into %rax, and then has cmpq $0,OFFSET(%rax). Leaves *offset
 * unchanged if its code is different. */
static void find_current(struct php *php, uint32_t *offset)
{
	unsigned char code[CODE_BYTES];
	uint64_t at;

	if (read_accessor(php, STR("zend_is_executing"), code, &at) && takes_globals(php, code, at) &&
	    memcmp(code + 7, "\x48\x83\xb8", 3) == 0 && code[14] == 0 && number_at(code + 10) % 8 == 0 &&
	    number_at(code + 10) < 4096)
		*offset = number_at(code + 10);
}

/* Returns the number in the code of zend_vm_kind, mov $KIND,%eax; ret; 0 if its code is different. */
static uint32_t find_kind(struct php *php)
{
	unsigned char code[CODE_BYTES];
	uint64_t at;

	return read_accessor(php, STR("zend_vm_kind"), code, &at) && code[0] == 0xb8 && code[5] == 0xc3 ?
		       number_at(code + 1) :
		       0;
}

/* ---- proof of a layout ------------------------------------------------------------------------------------------- */

enum phpproof { PHPPROOF_PROVEN, PHPPROOF_EMPTY, PHPPROOF_CONTRADICTED, PHPPROOF_JIT };

/* State of one attempt to prove a layout. */
struct phpprover {
	struct php *php;
	struct threadcopy *copy;
	struct php_stack *stack;
	const char *why; /* the contradiction, as the end of a sentence; NULL if there is none */
};

/* Returns true if one of the first HANDLERS_MAX instructions of a function has a handler that is neither in execute_ex
 * nor in the known code of the JIT compiler; false, too, if one of them is not readable or its handler is no address of
 * code. */
static bool is_elsewhere(const struct php *php, uint64_t function)
{
	uint64_t opcodes, last, handler;
	bool known = true;

	if (!memory_pointer(php->memory, function + php->layout.code.opcodes, &opcodes) ||
	    !memory_u64(php->memory, function + php->layout.code.last, 4, &last))
		return false;
	for (uint64_t i = 0; i < last && i < HANDLERS_MAX; i++) {
		if (!phplayout_is_address(opcodes) ||
		    !memory_pointer(php->memory, opcodes + i * PHPOP_BYTES + PHPOP_HANDLER, &handler) ||
		    handler < HANDLER_MIN)
			return false;
		known = known && phpcompiled_is_handler(php, handler);
	}
	return !known;
}

/* Proves one frame, and returns the result. The instruction of the innermost frame is also checked: it is an earlier
 * one of the same function, unless code of the JIT compiler runs the frame. */
static enum phpproof prove_phpframe(struct phpprover *prover, const struct php_frame *frame)
{
	const struct php *php = prover->php;
	struct php_function function;
	struct php_frame of = *frame;

	if (of.kind == PHP_DELEGATING)
		return PHPPROOF_EMPTY;
	of.innermost = frame->innermost && php->compiled.code.end;
	if (of.kind == PHP_FUNCTION && is_elsewhere(php, of.function))
		return PHPPROOF_JIT;
	if (!php_function(php, &of, &function)) {
		prover->why = "a frame has no function";
		return PHPPROOF_CONTRADICTED;
	}
	if (of.kind != PHP_FUNCTION || !function.file[0] || of.innermost ||
	    phplayout_is_global_instruction(php, of.instruction))
		return PHPPROOF_EMPTY;
	if (function.address != of.instruction || !function.line) {
		prover->why = "the instruction of a frame is not in its function";
		return PHPPROOF_CONTRADICTED;
	}
	return PHPPROOF_PROVEN;
}

static enum phpproof prove_php_once(struct phpprover *prover)
{
	struct php *php = prover->php;
	enum phpproof proof = PHPPROOF_EMPTY;
	struct threadplan plan;
	enum php_end end;

	php_plan(&php->layout, &plan);
	plan.frames = FRAMES_PROVEN;
	livecopy_read(php->memory, &plan, php_root(php), prover->copy, COPY_BYTES);
	end = php_frames(php, prover->copy, prover->stack);
	prover->why = end == PHP_IMPOSSIBLE ? "the list of frames is impossible" :
		      end == PHP_TRUNCATED && prover->copy->end != THREADCOPY_LIMIT ?
					      "the list of frames is not readable" :
					      NULL;
	if (prover->why)
		return PHPPROOF_CONTRADICTED;
	for (uint32_t i = 0; i < prover->stack->n; i++) {
		enum phpproof of = prove_phpframe(prover, &prover->stack->frame[i]);

		if (of == PHPPROOF_CONTRADICTED || of == PHPPROOF_JIT)
			return of;
		proof = of == PHPPROOF_PROVEN ? of : proof;
	}
	return proof;
}

/* Proves php->layout, in up to ATTEMPTS attempts: the process runs meanwhile, so an attempt may fail although the
 * layout is right. Returns the result of the last attempt. Sets *why to its contradiction if the result is
 * PHPPROOF_CONTRADICTED. */
static enum phpproof prove_php(struct php *php, const char **why)
{
	struct phpprover prover = { .php = php };
	/* An image does not change: one attempt is enough. */
	unsigned attempts = php->memory->fd < 0 ? 1 : ATTEMPTS, empty = 0;
	enum phpproof proof = PHPPROOF_EMPTY;

	prover.copy = mem_grow(NULL, 1, sizeof(*prover.copy) + COPY_BYTES);
	prover.stack = mem_grow(NULL, 1, sizeof(*prover.stack));
	for (unsigned i = 0; i < attempts && proof != PHPPROOF_PROVEN && empty < EMPTY_ATTEMPTS; i++) {
		memory_forget(php->memory);
		proof = prove_php_once(&prover);
		empty += proof == PHPPROOF_EMPTY;
	}
	*why = prover.why;
	free(prover.copy);
	free(prover.stack);
	return proof;
}

/* Sets php->fiber_switch to the code of zend_fiber_switch_context, which switches the native stack. Returns true
 * without setting it if the version has no Fibers (before 8.1). Returns false if a later version does not export the
 * function, or its size is implausible. */
static bool find_fiber_switch(struct php *php, uint32_t version)
{
	uint64_t start, size;

	if (!loadedfile_symbol_size(&php->file, STR("zend_fiber_switch_context"), &start, &size))
		return (version ? version : php->layout.version) < 801;
	php->fiber_switch = (struct evalcode_range){ start, start + size };
	return size > 0 && size <= FUNCTION_MAX && start <= UINT64_MAX - size;
}

/* ---- opening of PHP ---------------------------------------------------------------------------------------------- */

static enum php_answer php_refuse(struct php *php, const char *why)
{
	snprintf(php->why, sizeof(php->why), "its PHP %s is not supported (%s); send us the file and its build-id",
		 php->version[0] ? php->version : "of an unknown version", why);
	return PHP_REFUSED;
}

/* Sets php->why and returns the answer for a proof other than PHPPROOF_PROVEN. */
static enum php_answer php_unproven(struct php *php, enum phpproof proof, const char *why)
{
	switch (proof) {
	case PHPPROOF_EMPTY:
		snprintf(php->why, sizeof(php->why), "its PHP runs no function at present");
		return PHP_EARLY;
	case PHPPROOF_JIT:
		if (php->compiled.shared && !php->compiled.code.end) {
			snprintf(php->why, sizeof(php->why), "its PHP compiles a function at present");
			return PHP_EARLY;
		}
		snprintf(php->why, sizeof(php->why),
			 "its PHP %s runs unknown code of opcache's JIT compiler; set opcache.jit to off",
			 php->version);
		return PHP_REFUSED;
	default: return php_refuse(php, why ? why : "no known layout fits");
	}
}

static bool is_row_of(const struct php_layout *row, uint32_t version)
{
	return row->version == version || (row->version == 800 && version == 801);
}

/* Proves the layout in the row of the version, and returns PHP_OPEN if it is proven. If the version is unknown, tries
 * all rows; at least one must be proven, and all proven ones must agree in php_layout.code. */
static enum php_answer php_find_layout(struct php *php, uint32_t version)
{
	enum phpproof last = PHPPROOF_CONTRADICTED;
	struct php_layout proven = { 0 };
	const char *why = NULL;

	for (uint32_t i = 0; i < PHPLAYOUTS; i++) {
		enum phpproof proof;

		phplayout_get(i, &php->layout);
		find_current(php, &php->layout.current);
		if (is_row_of(&php->layout, version)) {
			proof = prove_php(php, &why);
			return proof == PHPPROOF_PROVEN ? PHP_OPEN : php_unproven(php, proof, why);
		}
	}
	for (uint32_t i = 0; i < PHPLAYOUTS; i++) {
		enum phpproof proof;

		phplayout_get(i, &php->layout);
		find_current(php, &php->layout.current);
		proof = prove_php(php, &why);
		if (proof == PHPPROOF_PROVEN && proven.version &&
		    memcmp(&proven.code, &php->layout.code, sizeof(proven.code)) != 0)
			return php_refuse(php, "several layouts are possible");
		if (proof == PHPPROOF_PROVEN)
			proven = php->layout;
		else if (proof != PHPPROOF_CONTRADICTED)
			last = proof;
	}
	php->layout = proven;
	return proven.version ? PHP_OPEN : php_unproven(php, last, NULL);
}

enum php_answer php_open(struct php *php, struct memory *memory, uint64_t base, struct str maps)
{
	enum php_answer answer;
	const char *why;
	uint64_t address;
	uint32_t version;

	*php = (struct php){ .memory = memory };
	why = loadedfile_open(&php->file, memory, base);
	if (why || !loadedfile_symbol(&php->file, STR("zend_vm_kind"), &address)) {
		snprintf(php->why, sizeof(php->why), "%s", why ? why : "the file is not PHP");
		return PHP_OTHER_FILE;
	}
	version = find_version(php);
	if (!loadedfile_symbol(&php->file, STR("executor_globals"), &php->globals))
		answer = php_refuse(php, "it is thread-safe (ZTS)");
	else if (!evalcode_find(&php->file, STR("execute_ex"), &php->eval))
		answer = php_refuse(php, "it does not export its eval function");
	else if (find_kind(php) != VM_HYBRID)
		answer = php_refuse(php, "its eval function is not of the kind that gcc makes");
	else if (!phpcompiled_find_code(php, maps))
		answer = php_refuse(php, "it has executable shared memory twice");
	else
		answer = php_find_layout(php, version);
	if (answer == PHP_OPEN && !find_fiber_switch(php, version))
		answer = php_refuse(php, "it does not export its switch of Fibers");
	if (answer == PHP_OPEN && !phpcompiled_find_host(php))
		answer = php_refuse(php, "the code of its JIT compiler has no unwind rule");
	if (answer != PHP_OPEN && memory->budget && memory->budget->over) {
		snprintf(php->why, sizeof(php->why), "its PHP cannot be read from memory");
		answer = PHP_UNREADABLE;
	}
	return answer;
}

uint64_t php_root(const struct php *php)
{
	return php->globals + php->layout.current;
}
