/* seeds DIR - writes images (test/lib/perlimage.h) of the Perls of this machine, stopped in small programs, for
 * test/corpus/perlimage. A part is kept only if the names or lines of the image change without it. */
#include "test/lib/perlimage.h"
#include "runtimes/memory/fdetable.h"
#include "test/lib/perls.h"

static struct pyimage image;
static struct threadcopy *copy;
static struct perl_stack stack;

static void add_line(void *arg, const struct perl *perl, const struct perl_frame *frame,
		     const struct perl_function *function)
{
	(void)perl;
	text_printf(arg, "%s %s %u %d\n", function->name, function->file, function->line, frame->entry);
}

/* Replaces *text by the frames of the image, as text. */
static void show_image(struct text *text)
{
	struct memory memory;
	struct perl perl;

	text->n = 0;
	if (perlimage_open(&image, &memory, &perl) == PERL_OPEN) {
		perlimage_frames(&perl, copy, &stack, add_line, text);
		text_printf(text, "%u functions of docatch\n", perl.ncatching);
	} else {
		text_add(text, perl.why);
	}
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
		struct perl perl;
		struct text text = { 0 };

		before = image.n;
		if (perlimage_open(&image, &reader, &perl) == PERL_OPEN)
			perlimage_frames(&perl, copy, &stack, add_line, &text);
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

/* Takes the pages of docatch and of the ops that call it, and those of the unwind table that have them. */
static void take_code(struct memory *memory, const struct perl *perl)
{
	struct evalcode_range range;
	struct fdetable table;

	memory_forget(memory);
	if (!fdetable_open(&table, &perl->file))
		return;
	for (uint32_t i = 0; i < perl->ncatching; i++) {
		fdetable_range(&table, perl->catching[i].start, &range.start, &range.end);
		for (uint64_t at = range.start / PYIMAGE_PAGE; at * PYIMAGE_PAGE < range.end; at++)
			take_page(memory, at);
	}
	for (unsigned i = 0; i < 512; i++)
		if (memory->number[i])
			take_page(memory, memory->number[i] - 1);
}

static void one_image(const char *dir, const struct perlprogram *program, const char *mode, unsigned depth)
{
	struct perlrun run;
	struct perl perl;
	struct text text = { 0 };
	char path[512];

	if (!perlrun_start(program, mode, depth, &run) || perlrun_open(&run, &perl) != PERL_OPEN)
		exit(1);
	image.base = run.base;
	perlimage_frames(&perl, copy, &stack, add_line, &text);
	take_copy(&run.memory);
	take_code(&run.memory, &perl);
	take_pages(&run.memory);
	reduce();
	snprintf(path, sizeof(path), "%s/%s-%s", dir, perl.version, mode);
	write_image(path);
	text_free(&text);
	pyimage_free(&image);
	perlrun_end(&run);
}

int main(int argc, char **argv)
{
	struct perlprogram program[PERLS_MAX];
	size_t n = perls_find(program);

	if (argc != 2)
		return 2;
	copy = calloc(1, sizeof(*copy) + THREADCOPY_BYTES);
	for (size_t i = 0; i < n; i++) {
		one_image(argv[1], &program[i], "looping", 0);
		one_image(argv[1], &program[i], "cross", 2);
	}
	free(copy);
	return 0;
}
