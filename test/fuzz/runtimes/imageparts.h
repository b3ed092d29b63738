/* imageparts.h - the mutator of targets whose inputs are images of test/lib/pyimage.h: their parts stay parts. */
#ifndef PJ_FUZZ_IMAGEPARTS_H
#define PJ_FUZZ_IMAGEPARTS_H

#include "test/fuzz/fuzz.h"
#include "test/fuzz/mutate.h"
#include "test/lib/pyimage.h"

static bool imageparts_range(const uint8_t *data, size_t n, size_t *start, size_t *end)
{
	(void)data;
	*start = PYIMAGE_HEAD;
	*end = n;
	return n > PYIMAGE_HEAD;
}

static size_t imageparts_size(const uint8_t *record, size_t left)
{
	(void)record;
	return left >= PYIMAGE_RECORD ? (size_t)PYIMAGE_RECORD : 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t limit, unsigned seed)
{
	static const struct mutate_format format = { imageparts_range, imageparts_size, NULL, NULL, 8 };

	return mutate(&format, data, n, limit, seed);
}

#endif
