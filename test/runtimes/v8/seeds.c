/* seeds DIR [FILTER] - writes images (test/lib/v8image.h) of the nodes of this machine, stopped in truth.js, for
 * test/corpus/v8image, and prints the layouts of v8image.h. A part is kept only if the frames of the image change
 * without it. */
#include "runtimes/v8/v8heap.h"
#include "test/lib/imageseeds.h"
#include "test/lib/nodes.h"
#include "test/lib/v8image.h"

static struct pyimage image;
static struct v8image at;
static struct v8_frames frames;
static struct noderun run;

static void add_line(void *arg, const struct v8_frame *frame, const struct v8_function *function)
{
	text_printf(arg, "%s %s %u %d\n", function->name, function->file, function->line, frame->kind);
}

/* Replaces *text by the frames of the image, as text: an imageseeds_show. */
static void show_image(struct text *text, struct memory *reader)
{
	text->n = 0;
	at.memory.budget = NULL;
	if (v8image_open(&at, &image))
		v8image_frames(&at, &frames, add_line, text);
	else
		text_add(text, at.v8.why);
	text_char(text, '\0');
	*reader = at.memory;
}

/* Takes the characters of the sources of all frames: these are read without the cache. */
static void take_sources(struct v8 *v8)
{
	for (uint32_t i = 0; i < frames.n; i++) {
		uint64_t script, source;
		struct v8_flat flat;

		if (frames.frame[i].shared &&
		    v8heap_object(v8, frames.frame[i].shared, v8->layout.shared.script, &script) &&
		    v8heap_object(v8, script, v8->layout.script.source, &source) && v8heap_flat(v8, source, &flat) &&
		    flat.length < 16384)
			imageseeds_range(&image, &run.memory, flat.address, (uint64_t)flat.length * flat.width);
	}
}

static void put_control(const struct v8 *v8, const struct v8_stack *stack)
{
	struct v8image_control control = { stack->start, stack->ip, stack->bp, { { 0, 0 } } };

	for (uint32_t i = 0; i < v8->nranges && i < V8IMAGE_RANGES; i++)
		control.range[i] = v8->range[i];
	memcpy(pyimage_page(&image, V8IMAGE_CONTROL), &control, sizeof(control));
}

/* Takes out pages that are empty and not needed: others must be readable. */
static void drop_pages(const struct text *want)
{
	struct text got = { 0 };

	for (size_t i = image.n; i-- > 0;) {
		struct memory_part page = image.page[i];
		size_t behind = (image.n - i - 1) * sizeof(page);

		if (!imageseeds_is_zero(page.bytes, PYIMAGE_PAGE))
			continue;
		memmove(&image.page[i], &image.page[i + 1], behind);
		image.n--;
		if (!imageseeds_shows(want, &got, show_image)) {
			memmove(&image.page[i + 1], &image.page[i], behind);
			image.page[i] = page;
			image.n++;
		} else {
			free((void *)page.bytes);
		}
	}
	text_free(&got);
}

static void reduce(void)
{
	struct text want = { 0 };

	imageseeds_reduce(&image, &want, show_image);
	if (!strchr(want.p, '\n'))
		fprintf(stderr, "no frames: %s\n", want.p);
	drop_pages(&want);
	printf("%s", want.p);
	text_free(&want);
}

/* Stops the program in a stack that has a frame of that kind. */
static bool stop_in(struct v8 *v8, enum v8_kind kind, struct v8_stack *stack)
{
	for (unsigned tries = 0; tries < 300 && noderun_stop(&run, stack); tries++) {
		v8_frames(v8, stack, &frames);
		for (uint32_t i = 0; i < frames.n; i++)
			if (frames.frame[i].kind == kind)
				return true;
		noderun_go_on(&run);
		usleep(3000 + tries % 7 * 1000);
	}
	return false;
}

static void print_layout(const struct v8_layout *layout)
{
	uint32_t word[V8IMAGE_WORDS];

	_Static_assert(sizeof(word) == sizeof(*layout), "a layout consists of numbers of 32 bits");
	memcpy(word, layout, sizeof(word));
	for (size_t i = 0; i < V8IMAGE_WORDS; i++)
		printf("%s%u", i ? ", " : "{ ", word[i]);
	printf(" }\n");
}

struct seed {
	const char *mode, *option;
	enum v8_kind kind;
};

/* Writes an image of a stack with a frame of a kind, with layout `minor` of v8image.h. */
static void one_image(const char *path, const char *node, const struct seed *seed, unsigned minor)
{
	static struct v8 v8;
	struct v8_stack stack;
	struct str maps;

	if (!noderun_start(&run, node, seed->option, seed->mode) || noderun_open(&run, &v8) != V8_OPEN ||
	    !stop_in(&v8, seed->kind, &stack)) {
		noderun_end(&run);
		fprintf(stderr, "%s %s: no such stack\n", node, seed->mode);
		return;
	}
	print_layout(&v8.layout);
	maps = (struct str){ run.maps, run.nmaps };
	image = (struct pyimage){ .minor = minor };
	if (!str_hex(str_cut(&maps, '-'), &image.base)) /* of the program, which has the first mapping */
		exit(1);
	imageseeds_range(&image, &run.memory, stack.start, stack.bytes.n);
	put_control(&v8, &stack);
	take_sources(&v8);
	imageseeds_read(&image, &run.memory, show_image);
	reduce();
	imageseeds_write(&image, path);
	pyimage_free(&image);
	noderun_end(&run);
}

static const struct seed seed[] = { { "names", "--jitless", V8_INTERPRETED },
				    { "parents", "--always-sparkplug", V8_BASELINE },
				    { "flat", NULL, V8_INLINED },
				    { "callbacks", "--no-turbofan", V8_INLINED } };

/* Writes the images of a node with a layout, or with the file's symbols. */
static void images_of(const char *dir, const char *filter, const char *node, unsigned minor)
{
	for (size_t k = minor ? 0 : 2; k < (minor ? countof(seed) : 3); k++) {
		char path[PATH_MAX];

		snprintf(path, sizeof(path), "%s/%s-%s", dir, minor ? v8image_layout[minor].node : "file",
			 seed[k].mode);
		if (strstr(path, filter))
			one_image(path, node, &seed[k], minor);
	}
}

int main(int argc, char **argv)
{
	static char node[16][PATH_MAX];
	size_t n = nodes_find(node, 16);

	if (argc < 2)
		return 2;
	for (size_t i = 0; i < n; i++)
		for (unsigned minor = 0; minor < V8IMAGE_LAYOUTS; minor++)
			/* the file's symbols: those of the newest version */
			if (strstr(node[i], v8image_layout[minor ? minor : V8IMAGE_LAYOUTS - 1u].node))
				images_of(argv[1], argc < 3 ? "" : argv[2], node[i], minor);
	return 0;
}
