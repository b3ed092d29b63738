/* seeds DIR - writes images (test/lib/pyimage.h) of the CPythons of this machine, stopped in small programs, for
 * test/corpus/pyimage. A part is kept only if the names or lines of the image change without it. */
#include "test/lib/imageseeds.h"
#include "test/lib/pythons.h"

static struct pyimage image;
static struct threadcopy *copy;
static struct cpython_stack stack;

static void add_line(void *arg, struct cpython *cpython, const struct cpython_frame *frame,
		     const struct cpython_code *code)
{
	text_printf(arg, "%s %s %u %d\n", code->name, code->file, cpython_line(cpython, code, frame), frame->entry);
}

/* Replaces *text by the frames of the image, as text: an imageseeds_show. */
static void show_image(struct text *text, struct memory *reader)
{
	struct cpython cpython;

	text->n = 0;
	if (pyimage_open(&image, reader, &cpython) == CPYTHON_OPEN)
		pyimage_frames(&cpython, copy, &stack, add_line, text);
	else
		text_add(text, cpython.why);
	text_char(text, '\0');
}

static void one_image(const char *dir, const struct python *python, const char *mode, unsigned depth)
{
	struct pythonrun run;
	struct cpython cpython;
	struct text text = { 0 };
	char path[512];

	if (!python_run(python, mode, depth, &run) || python_open(&run, &cpython) != CPYTHON_OPEN)
		exit(1);
	image.base = run.base;
	image.minor = python->minor;
	pyimage_frames(&cpython, copy, &stack, add_line, &text);
	imageseeds_copy(&image, &run.memory, copy);
	imageseeds_read(&image, &run.memory, show_image);
	imageseeds_reduce_frames(&image, show_image);
	snprintf(path, sizeof(path), "%s/%u-%s", dir, python->minor, mode);
	imageseeds_write(&image, path);
	text_free(&text);
	pyimage_free(&image);
	python_end(&run);
}

int main(int argc, char **argv)
{
	struct python python[PYTHONS_MAX];
	size_t n = pythons_find(python);
	bool done_minor[32] = { false };

	if (argc != 2)
		return 2;
	copy = calloc(1, sizeof(*copy) + THREADCOPY_BYTES);
	for (size_t i = 0; i < n; i++) {
		if (done_minor[python[i].minor])
			continue;
		done_minor[python[i].minor] = true;
		one_image(argv[1], &python[i], "names", 0);
		one_image(argv[1], &python[i], "init", 0);
	}
	free(copy);
	return 0;
}
