/* v8image: what is read of the memory of a node is frames in its stack, with names that end within their space, or a
 * reason, within its budget, whatever the memory holds. Input: test/lib/v8image.h; test/runtimes/v8/seeds writes such
 * inputs from real processes. */
/* covers: runtimes/v8/v8.c runtimes/v8/v8code.c runtimes/v8/v8frames.c runtimes/v8/v8function.c runtimes/v8/v8heap.c */
/* covers: runtimes/v8/v8deopt.c runtimes/v8/v8layout.c runtimes/v8/v8lines.c runtimes/v8/v8numbers.c */
/* least: 85, as the rest is about paths, kinds of strings and builds that are refused (v8_test.c, v8frames_test.c) */
/* largest: 65536 */
#include "test/lib/v8image.h"

#include "test/fuzz/fuzz.h"
#include "test/fuzz/runtimes/imageparts.h"

static struct pyimage image;
static struct readbudget allowance;
static struct v8image at;
static struct v8_frames frames;

/* What pjrecord allows for one stack, some 2 ms, three times. */
const struct fuzz_budget fuzz_budget = {
	.steps = 60000000, .steps_per_byte = 2000, .heap = 16 << 20, .heap_per_byte = 1024
};

static void check_function(void *arg, const struct v8_frame *frame, const struct v8_function *function)
{
	(void)arg;
	MUST(memchr(function->name, '\0', sizeof(function->name)) &&
	     memchr(function->file, '\0', sizeof(function->file)));
	MUST(function->name[0] && (function->has_name || strcmp(function->name, "(anonymous)") == 0));
	MUST(!function->line || (function->file[0] && !function->line_later));
	MUST(frame->shared);
}

/* Frames ascend. An inlined function is followed by the one that contains it. */
static void check_frames(void)
{
	MUST(frames.n <= V8_FRAMES_MAX);
	for (uint32_t i = 0; i < frames.n; i++) {
		const struct v8_frame *frame = &frames.frame[i];

		MUST(frame->kind <= V8_UNPROVEN && (frame->kind == V8_UNPROVEN) == (frame->shared == 0));
		MUST(frame->fp >= at.stack.start && frame->fp - at.stack.start < at.stack.bytes.n);
		MUST(i == 0 || frame->fp >= frame[-1].fp);
		MUST((frame->kind == V8_INTERPRETED) == (frame->address != 0) && frame->address % 2 == 0);
		if (frame->kind == V8_INLINED)
			MUST(i + 1 < frames.n && frame[1].fp == frame->fp && frame[1].pc == frame->pc &&
			     (frame[1].kind == V8_INLINED || frame[1].kind == V8_OPTIMIZED));
	}
}

/* Reads the stack. The second time, what the first one has found is known; the third one has little budget. */
static void read_stacks(void)
{
	static const uint64_t steps[] = { 200000, 200000, 300 };

	at.memory.budget = &allowance;
	for (size_t i = 0; i < countof(steps); i++) {
		allowance = (struct readbudget){ .steps = steps[i], .bytes = 8 << 20 };
		memory_forget(&at.memory);
		v8image_frames(&at, &frames, check_function, NULL);
		check_frames();
	}
}

int fuzz_one(const uint8_t *data, size_t n)
{
	pyimage_load(&image, (struct str){ (const char *)data, n });
	if (v8image_open(&at, &image))
		read_stacks();
	else
		MUST(at.v8.why[0] || image.minor % V8IMAGE_LAYOUTS == 0);
	memory_close(&at.memory);
	pyimage_free(&image);
	return 0;
}
