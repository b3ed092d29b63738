/* v8image.h - images of the memory of node processes (Node.js), in the format of pyimage.h, which
 * test/runtimes/v8/seeds.c makes.
 *
 * The byte for the version is an index in v8image_layout; 0: the layout comes from the symbols of the file, which are
 * in the image. Address V8IMAGE_CONTROL has a struct v8image_control; its `stack` is the address of the stack. */
#ifndef PJ_TEST_V8IMAGE_H
#define PJ_TEST_V8IMAGE_H

#include "runtimes/v8/v8.h"
#include "test/lib/pyimage.h"

#include <inttypes.h>

#define V8IMAGE_CONTROL 4096u
#define V8IMAGE_STACK 24576u
#define V8IMAGE_WORDS (sizeof(struct v8_layout) / sizeof(uint32_t))

/* Layouts as v8layout_read returns them; test/runtimes/v8/seeds prints them. */
static const struct {
	const char *node; /* version, as process.version has it */
	uint32_t word[V8IMAGE_WORDS];
} v8image_layout[] = {
	{ "", { 0 } },
	{ "16.20.2",
	  { 9004, 146, 26, 1059, 1072, 179, 178, 112, 162, 133, 172, 119, 67, 105, 0,  94, 64, 12, 24, 32, 8, 16, 32,
	    16,   8,   56, 24,   3,    0,   54,  1,   96,  40,  48,  16,  24, 96,  32, 15, 11, 1,  2,  6,  7, 0 } },
	{ "20.20.2",
	  { 11003, 244, 8,  2066, 2080, 262, 261, 167, 245, 191, 255, 175, 131, 159, 0,  0,  128, 12, 24, 32, 8, 16, 32,
	    16,    8,   56, 24,   3,    0,   54,  0,   40,  56,  48,  16,  24,  8,   64, 15, 11,  1,  2,  6,  7, 0 } },
	{ "22.23.3",
	  { 12004, 254, 21, 2066, 2082, 274, 272, 167, 206, 205, 264, 174, 131, 207, 0,  0,  128, 12, 32, 40, 8, 16, 32,
	    16,    8,   56, 24,   3,    0,   64,  0,   40,  52,  48,  8,   16,  24,  64, 15, 10,  1,  2,  6,  7, 0 } },
	{ "24.21.0", { 13006, 233, 17, 2065, 2081, 282, 280, 167, 187, 186, 272, 205, 131, 188, 195,
		       0,     128, 12, 32,   40,   8,   24,  40,  16,  8,   56,  24,  5,   1,   64,
		       0,     40,  56, 52,   8,    16,  24,  64,  15,  10,  1,   3,   7,   8,   8 } },
	{ "26.10.0", { 14006, 202, 34, 2066, 2082, 288, 286, 166, 186, 185, 278, 205, 131, 187, 195,
		       0,     128, 12, 32,   40,   8,   24,  40,  16,  8,   56,  24,  5,   1,   64,
		       0,     40,  56, 52,   8,    16,  24,  64,  15,  11,  1,   3,   7,   8,   8 } },
};

enum { V8IMAGE_LAYOUTS = sizeof(v8image_layout) / sizeof(v8image_layout[0]) };

#define V8IMAGE_RANGES 6u

struct v8image_control {
	uint64_t stack, ip, bp;                /* start of the stack, registers */
	struct v8_range range[V8IMAGE_RANGES]; /* executable mappings of files */
};

/* State of V8 that was opened in an image. */
struct v8image {
	struct memory memory;
	struct v8 v8;
	struct v8_stack stack;
	char bytes[V8IMAGE_STACK]; /* copy of the stack */
};

static inline void v8image_stack(struct v8image *at, uint64_t start)
{
	uint64_t n = 0, step;

	for (; n < V8IMAGE_STACK; n += step) {
		step = PYIMAGE_PAGE - (start + n) % PYIMAGE_PAGE;
		step = step < V8IMAGE_STACK - n ? step : V8IMAGE_STACK - n;
		if (!memory_bulk(&at->memory, start + n, at->bytes + n, step))
			break;
	}
	at->stack.start = start;
	at->stack.bytes = (struct str){ at->bytes, n };
}

static inline void v8image_maps(const struct v8image_control *control, char *maps, size_t cap)
{
	size_t n = 0;

	for (size_t i = 0; i < V8IMAGE_RANGES && n < cap; i++)
		n += (size_t)snprintf(maps + n, cap - n, "%" PRIx64 "-%" PRIx64 " r-xp 0 0:0 0 /node\n",
				      control->range[i].start, control->range[i].end);
}

/* Opens V8 in an image. Returns false if V8 refuses the image; at->v8.why may then have the reason. */
static inline bool v8image_open(struct v8image *at, const struct pyimage *image)
{
	size_t minor = image->minor % V8IMAGE_LAYOUTS;
	struct v8image_control control = { 0 };
	char maps[1024];

	at->memory = (struct memory){ 0 };
	memory_image(&at->memory, image->page, image->n);
	memory_bulk(&at->memory, V8IMAGE_CONTROL, &control, sizeof(control));
	v8image_stack(at, control.stack);
	at->stack.ip = control.ip;
	at->stack.bp = control.bp;
	if (minor) {
		at->v8 = (struct v8){ .memory = &at->memory, .nranges = V8IMAGE_RANGES };
		memcpy(at->v8.range, control.range, sizeof(control.range));
		memcpy(&at->v8.layout, v8image_layout[minor].word, sizeof(at->v8.layout));
		return true;
	}
	v8image_maps(&control, maps, sizeof(maps));
	return v8_open(&at->v8, &at->memory, image->base, str_of(maps)) == V8_OPEN;
}

/* Called for each function that was read. */
typedef void v8image_function(void *arg, const struct v8_frame *frame, const struct v8_function *function);

/* Finds the frames of the image, and calls f for each that is proven, the innermost first. */
static inline void v8image_frames(struct v8image *at, struct v8_frames *frames, v8image_function *f, void *arg)
{
	v8_frames(&at->v8, &at->stack, frames);
	for (uint32_t i = 0; i < frames->n; i++) {
		struct v8_function function;

		if (frames->frame[i].kind != V8_UNPROVEN && v8_function(&at->v8, frames->frame[i].shared, &function))
			f(arg, &frames->frame[i], &function);
	}
}

#endif
