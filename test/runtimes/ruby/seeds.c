/* seeds DIR - writes images (test/lib/rubyimage.h) of the Rubies of this machine, stopped in small programs, for
 * test/corpus/rubyimage. A part is kept only if the names or lines of the image change without it. Pages that a search
 * reads push each other out of the reader's cache: repeat it until each image ends with "its code is not readable". */
#include "test/lib/rubies.h"
#include "test/lib/imageseeds.h"
#include "test/lib/rubyimage.h"

static struct pyimage image;
static struct threadcopy *copy;
static struct ruby_stack stack;
static struct rubyrun run;

static void add_line(void *arg, const struct ruby_frame *frame, const struct ruby_code *code)
{
	text_printf(arg, "%s %s %u %d\n", code->name, code->file, code->line, frame->entry);
}

/* Replaces *text by the frames of the image, as text: an imageseeds_show. */
static void show_image(struct text *text, struct memory *reader)
{
	struct ruby ruby;
	enum ruby_answer answer;

	text->n = 0;
	if (rubyimage_open(&image, reader, &ruby, &answer))
		rubyimage_frames(&ruby, copy, &stack, add_line, text);
	text_printf(text, "%d %s", (int)answer, ruby.why);
	text_char(text, '\0');
}

static void one_image(const char *dir, const struct rubyprogram *program, const char *mode)
{
	struct ruby ruby;
	struct text text = { 0 }, want = { 0 };
	char path[512];

	if (!ruby_run(program, mode, &run) || ruby_open_run(&run, &ruby) != RUBY_OPEN)
		exit(1);
	image.base = run.base;
	rubyimage_frames(&ruby, copy, &stack, add_line, &text);
	imageseeds_copy(&image, &run.memory, copy);
	imageseeds_read(&image, &run.memory, show_image);
	imageseeds_reduce(&image, &want, show_image);
	printf("%zu pages\n%s\n", image.n, want.p);
	snprintf(path, sizeof(path), "%s/%s-%s", dir, strstr(program->program, "3."), mode);
	imageseeds_write(&image, path);
	text_free(&text);
	text_free(&want);
	pyimage_free(&image);
	ruby_end(&run);
}

int main(int argc, char **argv)
{
	static struct rubyprogram program[RUBIES_MAX];
	size_t n = rubies_find(program);

	if (argc != 2)
		return 2;
	copy = calloc(1, sizeof(*copy) + THREADCOPY_BYTES);
	for (size_t i = 0; i < n; i++) {
		/* later versions have more data than fits into an image */
		if (!strstr(program[i].program, "3.1"))
			continue;
		one_image(argv[1], &program[i], "closures");
		one_image(argv[1], &program[i], "exceptions");
		one_image(argv[1], &program[i], "threads");
	}
	free(copy);
	return 0;
}
