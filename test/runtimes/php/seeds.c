/* seeds DIR - writes images (test/lib/phpimage.h) of the PHPs of this machine, stopped in small programs, for
 * test/corpus/phpimage. A part is kept only if the names or lines of the image change without it. */
#include "test/lib/imageseeds.h"
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

/* Replaces *text by the frames of the image, as text: an imageseeds_show. */
static void show_image(struct text *text, struct memory *reader)
{
	struct php php;

	text->n = 0;
	if (phpimage_open(&image, reader, &php) == PHP_OPEN)
		phpimage_frames(&php, copy, &stack, add_line, text);
	else
		text_add(text, php.why);
	text_char(text, '\0');
}

/* jit: opcache.jit=MODE; NULL: without opcache's JIT compiler */
static void one_image(const char *dir, const struct waitingprogram *program, const char *jit, const char *mode,
		      unsigned depth)
{
	struct waitingrun run;
	struct php php;
	struct text text = { 0 };
	char path[512];

	if (!(jit ? phprun_start_compiled(program, jit, mode, depth, &run) :
		    phprun_start(program, NULL, mode, depth, &run)) ||
	    phprun_open(&run, &php) != PHP_OPEN)
		exit(1);
	image.base = run.base;
	image.minor = 0;
	if (php.compiled.code.end && php.compiled.code.start < run.base &&
	    run.base - php.compiled.code.start <= 255u << 24)
		image.minor = (unsigned)((run.base - php.compiled.code.start + (1u << 24) - 1) >> 24);
	phpimage_frames(&php, copy, &stack, add_line, &text);
	imageseeds_copy(&image, &run.memory, copy);
	imageseeds_read(&image, &run.memory, show_image);
	imageseeds_reduce_frames(&image, show_image);
	snprintf(path, sizeof(path), "%s/%s-%s%s", dir, php.version, mode, jit ? "-jit" : "");
	imageseeds_write(&image, path);
	text_free(&text);
	pyimage_free(&image);
	waitingrun_end(&run);
}

int main(int argc, char **argv)
{
	struct waitingprogram program[WAITINGPROGRAMS_MAX];
	size_t n = phps_find(program);

	if (argc != 2)
		return 2;
	copy = calloc(1, sizeof(*copy) + THREADCOPY_BYTES);
	for (size_t i = 0; i < n; i++) {
		one_image(argv[1], &program[i], NULL, "delegating", 0);
		one_image(argv[1], &program[i], NULL, "cross", 0);
		if (strcmp(program[i].program, "/usr/bin/php8.0") >= 0)
			one_image(argv[1], &program[i], "opcache.jit=1205", "cross", 0);
	}
	free(copy);
	return 0;
}
