/* phpimage: what is read of the memory of a PHP is frames with names that the memory holds, or a reason, within its
 * budget, whatever the memory holds. Input: test/lib/phpimage.h; test/runtimes/php/seeds writes such inputs from real
 * processes. */
/* covers: runtimes/php/php.c runtimes/php/phpframes.c runtimes/php/phpfunction.c runtimes/php/phplayout.c */
/* covers: runtimes/memory/evalcode.c runtimes/php/phpcompiled.c */
/* least: 64, as the rest is about running processes (test/runtimes/php/php_test.c) */
/* largest: 65536 */
#include "test/lib/phpimage.h"

#include "test/fuzz/fuzz.h"
#include "test/fuzz/runtimes/imageparts.h"

static struct pyimage image;
static struct readbudget allowance;

/* The copies of the attempts to prove six layouts are the largest part. */
const struct fuzz_budget fuzz_budget = {
	.steps = 60000000, .steps_per_byte = 2000, .heap = 16 << 20, .heap_per_byte = 1024
};

static unsigned checked;

/* A name is one of the reader's own, or each part of it between "::" is in the image. */
static void check_parts(const char *name)
{
	if (name[0] == '<' || name[0] == '{')
		return;
	while (*name) {
		const char *end = strstr(name, "::");
		size_t n = end ? (size_t)(end - name) : strcspn(name, "."), bound = n > 64 ? 64 : n;

		MUST(n == 0 || pyimage_holds(&image, name, bound, 1));
		if (!end)
			break;
		name = end + 2;
	}
}

static void check_function(void *arg, const struct php *php, const struct php_frame *frame,
			   const struct php_function *function)
{
	(void)arg;
	MUST(memchr(function->name, '\0', sizeof(function->name)) &&
	     memchr(function->file, '\0', sizeof(function->file)));
	MUST(function->name[0] && function->line <= INT32_MAX);
	MUST(!function->line || function->address == frame->instruction);
	MUST(frame->kind != PHP_DELEGATING || function->address == php->globals);
	if (checked++ < 16)
		check_parts(function->name);
}

int fuzz_one(const uint8_t *data, size_t n)
{
	struct memory memory;
	struct php php;
	struct threadcopy *copy = calloc(1, sizeof(*copy) + THREADCOPY_BYTES);
	struct php_stack *stack = malloc(sizeof(*stack));

	MUST(copy && stack);
	pyimage_load(&image, (struct str){ (const char *)data, n });
	allowance = (struct readbudget){ .steps = 512 << 10, .bytes = 8 << 20 };
	memory = (struct memory){ 0 };
	checked = 0;
	if (phpimage_open(&image, &memory, &php) == PHP_OPEN) {
		MUST(php.eval.n >= 1 && php.eval.n <= EVALCODE_RANGES_MAX);
		memory.budget = &allowance;
		phpimage_frames(&php, copy, stack, check_function, NULL);
	} else {
		MUST(php.why[0]);
	}
	memory_close(&memory);
	pyimage_free(&image);
	free(copy);
	free(stack);
	return 0;
}
