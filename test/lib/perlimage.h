/* perlimage.h - images of the memory of Perls, in the format of pyimage.h, as test/runtimes/perl/seeds.c takes them
 * from real processes. */
#ifndef PJ_TEST_PERLIMAGE_H
#define PJ_TEST_PERLIMAGE_H

#include "runtimes/perl/perl.h"
#include "test/lib/pyimage.h"

/* Called for each function that was read. */
typedef void perlimage_function(void *arg, const struct perl *perl, const struct perl_frame *frame,
				const struct perl_function *function);

/* Reads the frames of an image, and calls f for each function, the innermost first. *copy: scratch buffer. */
static inline void perlimage_frames(const struct perl *perl, struct threadcopy *copy, struct perl_stack *stack,
				    perlimage_function *f, void *arg)
{
	struct threadplan plan;

	perl_plan(&perl->layout, &plan);
	livecopy_read(perl->memory, &plan, perl->interpreter, copy, THREADCOPY_BYTES);
	if (perl_frames(perl, copy, stack) == PERL_IMPOSSIBLE)
		return;
	for (uint32_t k = 0; k < stack->n; k++) {
		struct perl_function function;

		if (perl_function(perl, &stack->frame[k], &function))
			f(arg, perl, &stack->frame[k], &function);
	}
}

static inline enum perl_answer perlimage_open(const struct pyimage *image, struct memory *memory, struct perl *perl)
{
	memory_image(memory, image->page, image->n);
	return perl_open(perl, memory, image->base);
}

#endif
