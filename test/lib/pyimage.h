/* pyimage.h - images of the memory of CPython processes, which test/runtimes/cpython/seeds.c makes.
 *
 * Format of an image: address at which the file is mapped (8 bytes), minor version of its path (1 byte), then parts of
 * the memory: address (8 bytes) and content (64 bytes). A page with at least one part is readable; its other bytes are
 * 0. */
#ifndef PJ_TEST_PYIMAGE_H
#define PJ_TEST_PYIMAGE_H

#include "common/text.h"
#include "runtimes/cpython/cpython.h"
#include "runtimes/memory/livecopy.h"

#include <stdio.h>
#include <stdlib.h>

enum {
	PYIMAGE_PAGE = 4096,
	PYIMAGE_PART = 64,
	PYIMAGE_HEAD = 9,
	PYIMAGE_RECORD = 8 + PYIMAGE_PART,
	PYIMAGE_PAGES = 512
};

struct pyimage {
	struct memory_part page[PYIMAGE_PAGES];
	size_t n;
	uint64_t base;
	unsigned minor;
};

/* Returns the bytes of the page at an address; adds the page to the image if it is missing. Returns NULL if the image
 * has the maximum number of pages. */
static inline char *pyimage_page(struct pyimage *image, uint64_t address)
{
	size_t at = image->n;

	while (at > 0 && image->page[at - 1].address > address)
		at--;
	if (at > 0 && image->page[at - 1].address == address)
		return (char *)image->page[at - 1].bytes;
	if (image->n == PYIMAGE_PAGES)
		return NULL;
	memmove(&image->page[at + 1], &image->page[at], (image->n - at) * sizeof(image->page[0]));
	image->page[at] = (struct memory_part){ address, PYIMAGE_PAGE, calloc(1, PYIMAGE_PAGE) };
	image->n++;
	return (char *)image->page[at].bytes;
}

static inline void pyimage_load(struct pyimage *image, struct str bytes)
{
	image->n = 0;
	image->base = 0;
	image->minor = 0;
	if (bytes.n < PYIMAGE_HEAD)
		return;
	memcpy(&image->base, bytes.p, 8);
	image->minor = (unsigned char)bytes.p[8];
	for (size_t i = PYIMAGE_HEAD; i + PYIMAGE_RECORD <= bytes.n; i += PYIMAGE_RECORD) {
		uint64_t address;
		char *page;

		memcpy(&address, bytes.p + i, 8);
		address &= ~(uint64_t)(PYIMAGE_PART - 1) & INT64_MAX;
		page = pyimage_page(image, address & ~(uint64_t)(PYIMAGE_PAGE - 1));
		if (page)
			memcpy(page + address % PYIMAGE_PAGE, bytes.p + i + 8, PYIMAGE_PART);
	}
}

static inline void pyimage_free(struct pyimage *image)
{
	for (size_t i = 0; i < image->n; i++)
		free((void *)image->page[i].bytes);
	image->n = 0;
}

/* Returns true if the image has the bytes of an ASCII name of n characters, each `width` bytes wide. */
static inline bool pyimage_holds(const struct pyimage *image, const char *name, size_t n, size_t width)
{
	for (size_t i = 0; i < image->n; i++) {
		const char *page = image->page[i].bytes;
		/* A string may continue in the next page, so its characters in this page suffice. */
		for (size_t at = 0; at + width <= PYIMAGE_PAGE; at++) {
			size_t k = 0;

			while (k < n && at + k * width < PYIMAGE_PAGE && page[at + k * width] == name[k])
				k++;
			if (k == n || (k > 0 && at + k * width >= PYIMAGE_PAGE))
				return true;
		}
	}
	return false;
}

/* Called for each code object that was read. */
typedef void pyimage_code(void *arg, struct cpython *cpython, const struct cpython_frame *frame,
			  const struct cpython_code *code);

/* Reads the frames of all threads (at most 8) of an image, and calls f for each code object, the innermost first.
 * *copy: scratch buffer for a copy. */
static inline void pyimage_frames(struct cpython *cpython, struct threadcopy *copy, struct cpython_stack *stack,
				  pyimage_code *f, void *arg)
{
	struct cpython_thread thread[8];
	struct threadplan plan;
	size_t n = cpython_threads(cpython, thread, 8);

	cpython_plan(&cpython->layout, &plan);
	for (size_t i = 0; i < n; i++) {
		cpython_gil_holder(cpython, thread[i].interpreter);
		livecopy_read(cpython->memory, &plan, thread[i].state, copy, THREADCOPY_BYTES);
		if (cpython_frames(&cpython->layout, copy, stack) == CPYTHON_IMPOSSIBLE)
			continue;
		for (uint32_t k = 0; k < stack->n; k++) {
			struct cpython_code code;

			cpython_identify(cpython, &stack->frame[k]);
			if (cpython_code(cpython, &stack->frame[k], &code) == CPYTHON_CODE_READ)
				f(arg, cpython, &stack->frame[k], &code);
		}
	}
}

static inline enum cpython_answer pyimage_open(const struct pyimage *image, struct memory *memory,
					       struct cpython *cpython)
{
	char path[32];
	struct cpython_candidate candidate = { image->base, { path, 0 } };

	snprintf(path, sizeof(path), "python3.%u", image->minor);
	candidate.path.n = strlen(path);
	memory_image(memory, image->page, image->n);
	return cpython_open(cpython, memory, &candidate);
}

#endif
