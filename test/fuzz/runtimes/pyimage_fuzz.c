/* pyimage: what is read of the memory of a CPython is frames with names that the memory holds, or a reason, within its
 * budget, whatever the memory holds. Input: test/lib/pyimage.h; test/runtimes/cpython/seeds writes such inputs from
 * real processes. */
/* covers: runtimes/cpython/cpython.c runtimes/cpython/pycheck.c runtimes/cpython/pycode.c runtimes/cpython/pyframes.c
 */
/* covers: runtimes/cpython/pylayout.c runtimes/cpython/pylines.c runtimes/cpython/pystring.c runtimes/memory/livecopy.c
 */
/* least: 80, as the rest is about running processes and several interpreters (test/runtimes/cpython/cpython_test.c) */
/* largest: 65536 */
#include "test/lib/pyimage.h"

#include "test/fuzz/fuzz.h"
#include "test/fuzz/runtimes/imageparts.h"

static struct pyimage image;
static struct readbudget allowance;

/* The copies of an attempt to prove a layout, up to 32 of them, are the largest part. */
const struct fuzz_budget fuzz_budget = {
	.steps = 60000000, .steps_per_byte = 2000, .heap = 16 << 20, .heap_per_byte = 1024
};

/* Each part of a name between dots that is ASCII alone must be in the image. */
static void check_name(const char *name)
{
	while (*name) {
		size_t n = strcspn(name, "."), ascii = 0;

		while (ascii < n && (unsigned char)name[ascii] < 0x80)
			ascii++;
		if (ascii == n && n > 0)
			MUST(pyimage_holds(&image, name, n, 1) || pyimage_holds(&image, name, n, 2) ||
			     pyimage_holds(&image, name, n, 4));
		name += n + (name[n] == '.');
	}
}

/* Well-formed UTF-8, as far as its lead bytes are followed by the right number of others. */
static void check_utf8(const char *text)
{
	for (size_t i = 0; text[i];) {
		unsigned char lead = (unsigned char)text[i++];
		unsigned follow = lead < 0x80 ? 0 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;

		MUST(lead < 0x80 || (lead >= 0xc2 && lead <= 0xf4));
		for (; follow; follow--)
			MUST(((unsigned char)text[i++] & 0xc0) == 0x80);
	}
}

static unsigned checked;

static void check_code(void *arg, struct cpython *cpython, const struct cpython_frame *frame,
		       const struct cpython_code *code)
{
	uint64_t instruction = cpython_instruction(&cpython->layout, code, frame);

	(void)arg;
	MUST(memchr(code->name, '\0', sizeof(code->name)) && memchr(code->file, '\0', sizeof(code->file)));
	MUST(strchr(code->name, '.') && code->address == frame->code);
	MUST(instruction == 0 ||
	     (instruction >= code->bytecode && instruction <= code->bytecode + code->bytecode_bytes));
	check_utf8(code->name);
	check_utf8(code->file);
	MUST(cpython_line(cpython, code, frame) <= INT32_MAX);
	if (checked++ < 16)
		check_name(code->name);
}

int fuzz_one(const uint8_t *data, size_t n)
{
	struct memory memory;
	struct cpython cpython;
	struct threadcopy *copy = calloc(1, sizeof(*copy) + THREADCOPY_BYTES);
	struct cpython_stack *stack = malloc(sizeof(*stack));

	MUST(copy && stack);
	pyimage_load(&image, (struct str){ (const char *)data, n });
	allowance = (struct readbudget){ .steps = 512 << 10, .bytes = 8 << 20 };
	memory = (struct memory){ 0 };
	checked = 0;
	memory_image(&memory, image.page, image.n);
	switch (pyimage_open(&image, &memory, &cpython)) {
	case CPYTHON_OPEN:
		MUST(cpython.eval.n >= 1 && cpython.eval.n <= EVALCODE_RANGES_MAX);
		memory.budget = &allowance;
		pyimage_frames(&cpython, copy, stack, check_code, NULL);
		break;
	default: MUST(cpython.why[0]); break;
	}
	memory_close(&memory);
	pyimage_free(&image);
	free(copy);
	free(stack);
	return 0;
}
