/* SPDX-License-Identifier: Apache-2.0 */
#include "runtimes/php/phpcompiled.h"

#include "runtimes/php/phplayout.h"

/* number of instructions in executor_globals that handle an exception (zend_executor_globals.exception_op) */
#define EXCEPTION_OPS 3u

bool phpcompiled_is_shared(struct str path)
{
	return str_starts(path, STR("/dev/zero")) || str_starts(path, STR("/anon_hugepage")) ||
	       str_starts(path, STR("/SYSV")) || str_starts(path, STR("/dev/shm/ZendAccelerator"));
}

/* Kind of a line of /proc/PID/maps. SHARED_CODE: executable shared memory of opcache. */
enum shared { NOT_SHARED, SHARED_DATA, SHARED_CODE };

/* Returns the kind of a line of /proc/PID/maps (START-END RIGHTS OFFSET DEVICE INODE PATH), and sets *range to its
 * address range. */
static enum shared read_shared(struct str line, struct evalcode_range *range)
{
	struct str start = str_cut(&line, '-'), end = str_cut(&line, ' '), rights = str_cut(&line, ' ');
	ptrdiff_t path = str_find(line, '/');

	if (rights.n != 4 || rights.p[3] != 's' || path < 0 || !phpcompiled_is_shared(str_from(line, (size_t)path)) ||
	    !str_hex(start, &range->start) || !str_hex(end, &range->end) || range->start >= range->end)
		return NOT_SHARED;
	return rights.p[2] == 'x' ? SHARED_CODE : SHARED_DATA;
}

/* Sets *host to the address of the code for the instructions that handle an exception. Each of these instructions
 * starts with that address, which is in execute_ex, after its prologue. Returns false if executor_globals has no such
 * instructions; then *host is undefined. */
static bool find_host(const struct php *php, uint64_t *host)
{
	char bytes[PHPGLOBALS_BYTES];

	if (!memory_read(php->memory, php->globals, bytes, sizeof(bytes)))
		return false;
	for (uint32_t at = 0; at + EXCEPTION_OPS * PHPOP_BYTES <= sizeof(bytes); at += 8) {
		uint32_t same = 1;

		*host = phplayout_word(bytes, at + PHPOP_HANDLER);
		while (same < EXCEPTION_OPS && phplayout_word(bytes, at + same * PHPOP_BYTES + PHPOP_HANDLER) == *host)
			same++;
		if (same == EXCEPTION_OPS && evalcode_holds(&php->eval, *host))
			return true;
	}
	return false;
}

/* Adds the code of an exported function that calls execute_ex; nothing if there is no such function. */
static void add_caller(struct php *php, struct str name)
{
	struct php_compiled *compiled = &php->compiled;
	struct evalcode code;

	if (!evalcode_find(&php->file, name, &code))
		return;
	for (uint32_t i = 0; i < code.n && compiled->ncallers < PHP_CALLERS_MAX; i++)
		compiled->caller[compiled->ncallers++] = code.range[i];
}

bool phpcompiled_find_code(struct php *php, struct str maps)
{
	struct evalcode_range found;
	uint32_t n = 0;

	php->compiled = (struct php_compiled){ 0 };
	while (maps.n) {
		enum shared shared = read_shared(str_cut(&maps, '\n'), &found);

		php->compiled.shared |= shared != NOT_SHARED;
		if (shared != SHARED_CODE)
			continue;
		php->compiled.code = found;
		n++;
	}
	return n <= 1;
}

bool phpcompiled_find_host(struct php *php)
{
	if (!php->compiled.code.end)
		return true;
	if (!find_host(php, &php->compiled.host))
		return false;
	add_caller(php, STR("zend_execute"));
	add_caller(php, STR("zend_call_function"));
	add_caller(php, STR("zend_generator_resume"));
	add_caller(php, STR("dtrace_execute_ex"));
	return php->compiled.ncallers > 0;
}

bool phpcompiled_is_handler(const struct php *php, uint64_t address)
{
	return evalcode_holds(&php->eval, address) ||
	       (address >= php->compiled.code.start && address < php->compiled.code.end);
}
