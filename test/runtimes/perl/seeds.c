/* seeds DIR - writes images (test/lib/perlimage.h) of the Perls of this machine, stopped in small programs, for
 * test/corpus/perlimage. A part is kept only if the names or lines of the image change without it. */
#include "test/lib/imageseeds.h"
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

/* Replaces *text by the frames of the image, as text: an imageseeds_show. */
static void show_image(struct text *text, struct memory *reader)
{
	struct perl perl;

	text->n = 0;
	if (perlimage_open(&image, reader, &perl) == PERL_OPEN) {
		perlimage_frames(&perl, copy, &stack, add_line, text);
		text_printf(text, "%u functions of docatch\n", perl.ncatching);
	} else {
		text_add(text, perl.why);
	}
	text_char(text, '\0');
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
		imageseeds_range(&image, memory, range.start, range.end - range.start);
	}
	imageseeds_cached(&image, memory, memory);
}

static void one_image(const char *dir, const struct waitingprogram *program, const char *mode, unsigned depth)
{
	struct waitingrun run;
	struct perl perl;
	struct text text = { 0 };
	char path[512];

	if (!perlrun_start(program, mode, depth, &run) || perlrun_open(&run, &perl) != PERL_OPEN)
		exit(1);
	image.base = run.base;
	perlimage_frames(&perl, copy, &stack, add_line, &text);
	imageseeds_copy(&image, &run.memory, copy);
	take_code(&run.memory, &perl);
	imageseeds_read(&image, &run.memory, show_image);
	imageseeds_reduce_frames(&image, show_image);
	snprintf(path, sizeof(path), "%s/%s-%s", dir, perl.version, mode);
	imageseeds_write(&image, path);
	text_free(&text);
	pyimage_free(&image);
	waitingrun_end(&run);
}

int main(int argc, char **argv)
{
	struct waitingprogram program[WAITINGPROGRAMS_MAX];
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
