/* rubyimage: what is read of the memory of a Ruby is frames with names that end within their space, or a reason, within
 * its budget, whatever the memory holds. Input: test/lib/rubyimage.h; test/runtimes/ruby/seeds writes such inputs from
 * real processes. */
/* covers: runtimes/ruby/ruby.c runtimes/ruby/rubycheck.c runtimes/ruby/rubyframes.c runtimes/ruby/rubycode.c */
/* covers: runtimes/ruby/rubyobject.c runtimes/ruby/rubylayout.c runtimes/ruby/rubylines.c runtimes/memory/fdetable.c */
/* least: 60, as the rest is about running processes (test/runtimes/ruby/ruby_test.c) */
/* largest: 65536 */
#include "test/lib/rubyimage.h"

#include "runtimes/memory/fdetable.h"
#include "test/fuzz/fuzz.h"
#include "test/fuzz/runtimes/imageparts.h"

static struct pyimage image;
static struct readbudget allowance;

/* A scan of the library's data, and the copies of the attempts to prove a layout, are the largest part. */
const struct fuzz_budget fuzz_budget = {
	.steps = 60000000, .steps_per_byte = 2000, .heap = 16 << 20, .heap_per_byte = 1024
};

static void check_code(void *arg, const struct ruby_frame *frame, const struct ruby_code *code)
{
	(void)arg;
	MUST(memchr(code->name, '\0', sizeof(code->name)) && memchr(code->file, '\0', sizeof(code->file)));
	MUST(code->line <= INT32_MAX);
	MUST(!frame->innermost || !code->line);
	MUST(frame->kind == RUBY_METHOD || !code->file[0]);
}

/* A range contains the address that it is looked up by, and is no larger than a function may be. */
static void check_table(struct ruby *ruby, uint64_t address)
{
	struct fdetable table;
	uint64_t start, end;

	if (!ruby->file.m || !fdetable_open(&table, &ruby->file))
		return;
	MUST(table.n > 0);
	if (fdetable_all(&table, &start, &end))
		MUST(start < end);
	for (unsigned i = 0; i < 64; i++)
		if (fdetable_range(&table, address + i * 256, &start, &end))
			MUST(start <= address + i * 256 && address + i * 256 < end &&
			     end - start <= FDETABLE_FUNCTION_MAX);
}

int fuzz_one(const uint8_t *data, size_t n)
{
	struct memory memory;
	struct ruby ruby;
	enum ruby_answer answer;
	struct threadcopy *copy = calloc(1, sizeof(*copy) + THREADCOPY_BYTES);
	struct ruby_stack *stack = malloc(sizeof(*stack));
	bool found;

	MUST(copy && stack);
	pyimage_load(&image, (struct str){ (const char *)data, n });
	allowance = (struct readbudget){ .steps = 512 << 10, .bytes = 8 << 20 };
	memory = (struct memory){ 0 };
	found = rubyimage_open(&image, &memory, &ruby, &answer);
	MUST(answer == RUBY_OPEN || ruby.why[0]);
	MUST(ruby.neval <= RUBY_RANGES_MAX && ruby.ninner <= RUBY_RANGES_MAX);
	memory.budget = &allowance;
	if (found)
		rubyimage_frames(&ruby, copy, stack, check_code, NULL);
	check_table(&ruby, image.base);
	memory_close(&memory);
	pyimage_free(&image);
	free(copy);
	free(stack);
	return 0;
}
