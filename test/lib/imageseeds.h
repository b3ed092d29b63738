/* imageseeds.h - makes images (pyimage.h) of real processes for the corpora of fuzz targets: copies the pages that the
 * reader of a language needs, zeroes the bytes without which it finds the same, and writes the image to a file.
 *
 * An imageseeds_show runs the reader on the image, and replaces *text by the frames that it finds. It sets *reader to
 * the memory that was read, which the caller closes. */
#ifndef PJ_TEST_IMAGESEEDS_H
#define PJ_TEST_IMAGESEEDS_H

#include "test/lib/pyimage.h"

typedef void imageseeds_show(struct text *text, struct memory *reader);

/* Number of pages in the cache of a struct memory (runtimes/memory/memory.c). */
enum { IMAGESEEDS_CACHED = 512 };

static inline void imageseeds_page(struct pyimage *image, struct memory *memory, uint64_t number)
{
	char bytes[PYIMAGE_PAGE], *page;

	if (memory_bulk(memory, number * PYIMAGE_PAGE, bytes, sizeof(bytes)) &&
	    (page = pyimage_page(image, number * PYIMAGE_PAGE)))
		memcpy(page, bytes, sizeof(bytes));
}

static inline void imageseeds_range(struct pyimage *image, struct memory *memory, uint64_t start, uint64_t n)
{
	for (uint64_t number = start / PYIMAGE_PAGE; number * PYIMAGE_PAGE < start + n; number++)
		imageseeds_page(image, memory, number);
}

/* Adds the pages of a copy to the image. */
static inline void imageseeds_copy(struct pyimage *image, struct memory *memory, const struct threadcopy *copy)
{
	for (uint32_t i = 0; i < copy->nareas; i++)
		imageseeds_range(image, memory, copy->area[i].address, copy->area[i].n);
}

/* Adds the pages that a reader looked for in its cache to the image, from `memory`; `reader` may be the same. */
static inline void imageseeds_cached(struct pyimage *image, struct memory *memory, const struct memory *reader)
{
	for (unsigned i = 0; reader->number && i < IMAGESEEDS_CACHED; i++)
		if (reader->number[i])
			imageseeds_page(image, memory, reader->number[i] - 1);
}

/* Runs the reader on the image, and adds the pages that it looked for, until the image has all that it reads. */
static inline void imageseeds_read(struct pyimage *image, struct memory *memory, imageseeds_show *show)
{
	size_t before;

	do {
		struct memory reader;
		struct text text = { 0 };

		before = image->n;
		show(&text, &reader);
		imageseeds_cached(image, memory, &reader);
		memory_close(&reader);
		text_free(&text);
	} while (image->n > before);
}

/* Returns true if the reader finds *want in the image. got: scratch buffer for the text that it finds. */
static inline bool imageseeds_shows(const struct text *want, struct text *got, imageseeds_show *show)
{
	struct memory reader;

	show(got, &reader);
	memory_close(&reader);
	return got->n == want->n && memcmp(got->p, want->p, got->n) == 0;
}

static inline bool imageseeds_is_zero(const char *part, size_t n)
{
	static const char zero[PYIMAGE_PAGE];

	return memcmp(part, zero, n) == 0;
}

/* Zeroes the parts of the image without which the reader finds the same: pages first, then smaller parts. Sets *want to
 * the text that it finds. */
static inline void imageseeds_reduce(struct pyimage *image, struct text *want, imageseeds_show *show)
{
	struct memory reader;
	struct text got = { 0 };

	show(want, &reader);
	memory_close(&reader);
	for (size_t size = PYIMAGE_PAGE; size >= PYIMAGE_PART; size /= 2) {
		for (size_t i = 0; i < image->n * (PYIMAGE_PAGE / size); i++) {
			char *page = (char *)image->page[i / (PYIMAGE_PAGE / size)].bytes;
			char *part = page + i % (PYIMAGE_PAGE / size) * size, old[PYIMAGE_PAGE];

			if (imageseeds_is_zero(part, size))
				continue;
			memcpy(old, part, size);
			memset(part, 0, size);
			if (!imageseeds_shows(want, &got, show))
				memcpy(part, old, size);
		}
	}
	text_free(&got);
}

/* Reduces an image, and prints the frames that the reader finds in it. Exits if there are none. */
static inline void imageseeds_reduce_frames(struct pyimage *image, imageseeds_show *show)
{
	struct text want = { 0 };

	imageseeds_reduce(image, &want, show);
	if (!strchr(want.p, '\n') && fprintf(stderr, "%s\n", want.p))
		exit(1);
	printf("%s", want.p);
	text_free(&want);
}

static inline void imageseeds_write(const struct pyimage *image, const char *path)
{
	FILE *file = fopen(path, "we");
	unsigned char minor = (unsigned char)image->minor;

	if (!file || fwrite(&image->base, 8, 1, file) != 1 || fwrite(&minor, 1, 1, file) != 1)
		exit(1);
	for (size_t i = 0; i < image->n; i++) {
		for (size_t at = 0; at < PYIMAGE_PAGE; at += PYIMAGE_PART) {
			const char *part = image->page[i].bytes + at;
			uint64_t address = image->page[i].address + at;

			/* The first part of a page is written even if it is zero, so that the page exists. */
			if (at > 0 && imageseeds_is_zero(part, PYIMAGE_PART))
				continue;
			if (fwrite(&address, 8, 1, file) != 1 || fwrite(part, PYIMAGE_PART, 1, file) != 1)
				exit(1);
		}
	}
	if (fclose(file) != 0)
		exit(1);
}

#endif
