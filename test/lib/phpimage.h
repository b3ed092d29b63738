/* phpimage.h - images of the memory of PHPs, in the format of pyimage.h, as test/runtimes/php/seeds.c takes them from
 * real processes. */
#ifndef PJ_TEST_PHPIMAGE_H
#define PJ_TEST_PHPIMAGE_H

#include "runtimes/php/php.h"
#include "test/lib/pyimage.h"

/* Called for each function that was read. */
typedef void phpimage_function(void *arg, const struct php *php, const struct php_frame *frame,
			       const struct php_function *function);

/* Reads the frames of an image, and calls f for each function, the innermost first. *copy: scratch buffer. */
static inline void phpimage_frames(const struct php *php, struct threadcopy *copy, struct php_stack *stack,
				   phpimage_function *f, void *arg)
{
	struct threadplan plan;

	php_plan(&php->layout, &plan);
	livecopy_read(php->memory, &plan, php_root(php), copy, THREADCOPY_BYTES);
	if (php_frames(php, copy, stack) == PHP_IMPOSSIBLE)
		return;
	for (uint32_t k = 0; k < stack->n; k++) {
		struct php_function function;

		if (php_function(php, &stack->frame[k], &function))
			f(arg, php, &stack->frame[k], &function);
	}
}

/* Opens PHP in an image. For a process with opcache's JIT compiler, image->minor is the size of the memory with the
 * compiled code, which is before the program, in units of 16 MB; otherwise it is 0. */
static inline enum php_answer phpimage_open(const struct pyimage *image, struct memory *memory, struct php *php)
{
	uint64_t bytes = (uint64_t)image->minor << 24;
	char maps[80] = "";

	if (bytes && image->base >= bytes)
		snprintf(maps, sizeof(maps), "%llx-%llx r-xs 08000000 00:01 4259623 /dev/zero (deleted)\n",
			 (unsigned long long)(image->base - bytes), (unsigned long long)image->base);
	memory_image(memory, image->page, image->n);
	return php_open(php, memory, image->base, str_of(maps));
}

#endif
