/* seeds DIR - writes images (test/lib/phpimage.h) of the PHPs of this machine, stopped in small programs, for
 * test/corpus/phpimage. A part is kept only if the names or lines of the image change without it. */
#include "test/lib/phpimage.h"
#include "test/lib/phps.h"

static struct pyimage image;
static struct threadcopy *copy;
static struct php_stack stack;

static void add_line(void *arg, const struct php *php, const struct php_frame *frame,
		     const struct php_function *function)
{
	(void)php;
	text_printf(arg, "%s %s %u %d\n", function->name, function->file, function->line, frame->entry);
}

/* Replaces *text by the frames of the image, as text. */
static void show_image(struct text *text)
{
	struct memory memory;
	struct php php;

	text->n = 0;
	if (phpimage_open(&image, &memory, &php) == PHP_OPEN)
		phpimage_frames(&php, copy, &stack, add_line, text);
	else
		text_add(text, php.why);
	text_char(text, '\0');
	memory_close(&memory);
}

static void take_page(struct memory *memory, uint64_t number)
{
	char bytes[PYIMAGE_PAGE], *page;

	if (memory_bulk(memory, number * PYIMAGE_PAGE, bytes, sizeof(bytes)) &&
	    (page = pyimage_page(&image, number * PYIMAGE_PAGE)))
		memcpy(page, bytes, sizeof(bytes));
}

/* Takes the pages of the last copy. */
static void take_copy(struct memory *memory)
{
	for (uint32_t i = 0; i < copy->nareas; i++)
		for (uint64_t at = copy->area[i].address / PYIMAGE_PAGE;
		     at * PYIMAGE_PAGE < copy->area[i].address + copy->area[i].n; at++)
			take_page(memory, at);
}

/* Reads the image, and takes the pages that its reader's cache was asked for, until the image has all that are read. */
static void take_pages(struct memory *memory)
{
	size_t before;

	do {
		struct memory reader;
		struct php php;
		struct text text = { 0 };

		before = image.n;
		if (phpimage_open(&image, &reader, &php) == PHP_OPEN)
			phpimage_frames(&php, copy, &stack, add_line, &text);
		for (unsigned i = 0; reader.number && i < 512; i++)
			if (reader.number[i])
				take_page(memory, reader.number[i] - 1);
		memory_close(&reader);
		text_free(&text);
	} while (image.n > before);
}

/* Sets parts to zero that are not needed: halves of pages first, then smaller ones. */
static void reduce(void)
{
	struct text want = { 0 }, got = { 0 };

	show_image(&want);
	if (!strchr(want.p, '\n') && fprintf(stderr, "%s\n", want.p))
		exit(1);
	for (size_t size = PYIMAGE_PAGE; size >= PYIMAGE_PART; size /= 2) {
		for (size_t i = 0; i < image.n * (PYIMAGE_PAGE / size); i++) {
			char *part =
				(char *)image.page[i / (PYIMAGE_PAGE / size)].bytes + i % (PYIMAGE_PAGE / size) * size;
			char old[PYIMAGE_PAGE];

			memcpy(old, part, size);
			memset(part, 0, size);
			show_image(&got);
			if (got.n != want.n || memcmp(got.p, want.p, got.n) != 0)
				memcpy(part, old, size);
		}
	}
	printf("%s", want.p);
	text_free(&want);
	text_free(&got);
}

static void write_image(const char *path)
{
	FILE *file = fopen(path, "we");
	unsigned char minor = (unsigned char)image.minor;
	static const char zero[PYIMAGE_PART];

	if (!file || fwrite(&image.base, 8, 1, file) != 1 || fwrite(&minor, 1, 1, file) != 1)
		exit(1);
	for (size_t i = 0; i < image.n; i++) {
		for (size_t at = 0; at < PYIMAGE_PAGE; at += PYIMAGE_PART) {
			uint64_t address = image.page[i].address + at;

			/* A page without a part must be there, too. */
			if (at > 0 && memcmp(image.page[i].bytes + at, zero, PYIMAGE_PART) == 0)
				continue;
			if (fwrite(&address, 8, 1, file) != 1 ||
			    fwrite(image.page[i].bytes + at, PYIMAGE_PART, 1, file) != 1)
				exit(1);
		}
	}
	if (fclose(file) != 0)
		exit(1);
}

static void one_image(const char *dir, const struct phpprogram *program, const char *mode, unsigned depth)
{
	struct phprun run;
	struct php php;
	struct text text = { 0 };
	char path[512];

	if (!phprun_start(program, NULL, mode, depth, &run) || phprun_open(&run, &php) != PHP_OPEN)
		exit(1);
	image.base = run.base;
	phpimage_frames(&php, copy, &stack, add_line, &text);
	take_copy(&run.memory);
	take_pages(&run.memory);
	reduce();
	snprintf(path, sizeof(path), "%s/%s-%s", dir, php.version, mode);
	write_image(path);
	text_free(&text);
	pyimage_free(&image);
	phprun_end(&run);
}

int main(int argc, char **argv)
{
	struct phpprogram program[PHPS_MAX];
	size_t n = phps_find(program);

	if (argc != 2)
		return 2;
	copy = calloc(1, sizeof(*copy) + THREADCOPY_BYTES);
	for (size_t i = 0; i < n; i++) {
		one_image(argv[1], &program[i], "delegating", 0);
		one_image(argv[1], &program[i], "cross", 0);
	}
	free(copy);
	return 0;
}
