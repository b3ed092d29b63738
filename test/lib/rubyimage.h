/* rubyimage.h - images of the memory of Ruby processes, in the format of pyimage.h, which test/runtimes/ruby/seeds.c
 * makes. They lack the code of the library, so the last step of their opening, the search for eval functions, fails. */
#ifndef PJ_TEST_RUBYIMAGE_H
#define PJ_TEST_RUBYIMAGE_H

#include "runtimes/ruby/ruby.h"
#include "test/lib/pyimage.h"

/* Called for each frame whose names were read. */
typedef void rubyimage_code(void *arg, const struct ruby_frame *frame, const struct ruby_code *code);

/* Reads the frames of at most 8 threads, and calls f for each, the innermost first. *copy: scratch buffer. */
static inline void rubyimage_frames(struct ruby *ruby, struct threadcopy *copy, struct ruby_stack *stack,
				    rubyimage_code *f, void *arg)
{
	struct ruby_thread thread[8];
	struct threadplan plan;
	size_t n = ruby_threads(ruby, thread, 8);

	ruby_plan(&ruby->layout, &plan);
	for (size_t i = 0; i < n; i++) {
		livecopy_read(ruby->memory, &plan, thread[i].root, copy, THREADCOPY_BYTES);
		if (ruby_frames(&ruby->layout, copy, stack) == RUBY_IMPOSSIBLE)
			continue;
		for (uint32_t k = 0; k < stack->n; k++) {
			struct ruby_code code;

			if (ruby_code(ruby, &stack->frame[k], &code))
				f(arg, &stack->frame[k], &code);
		}
	}
}

/* Opens Ruby in an image. Returns true if its threads and layout were found; *answer shows if its code was found. */
static inline bool rubyimage_open(const struct pyimage *image, struct memory *memory, struct ruby *ruby,
				  enum ruby_answer *answer)
{
	struct ruby_candidate candidate = { image->base, STR("libruby-3.1.so.3.1") };

	memory_image(memory, image->page, image->n);
	*answer = ruby_open(ruby, memory, &candidate);
	return ruby->layout.version != 0 && ruby->vm != 0;
}

#endif
