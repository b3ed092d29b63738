/* perlimage: what is read of the memory of a Perl is frames with names that the memory holds, or a reason, within its
 * budget, whatever the memory holds. Input: test/lib/perlimage.h; test/runtimes/perl/seeds writes such inputs from real
 * processes. */
/* covers: runtimes/perl/perl.c runtimes/perl/perlframes.c runtimes/perl/perlfunction.c runtimes/perl/perllayout.c */
/* least: 64, as the rest is about running processes (test/runtimes/perl/perl_test.c) */
/* largest: 65536 */
#include "test/lib/perlimage.h"

#include "test/fuzz/fuzz.h"
#include "test/fuzz/runtimes/imageparts.h"

static struct pyimage image;
static struct readbudget allowance;

/* The copies of the attempts to prove three layouts are the largest part. */
const struct fuzz_budget fuzz_budget = {
	.steps = 60000000, .steps_per_byte = 2000, .heap = 16 << 20, .heap_per_byte = 1024
};

static unsigned checked;

/* Each part of a name between "::" is in the image, unless it is the reader's own, or has characters that it converts.
 */
static void check_parts(const char *name)
{
	while (*name) {
		const char *end = strstr(name, "::");
		size_t n = end ? (size_t)(end - name) : strcspn(name, "."), bound = n > 64 ? 64 : n;

		for (size_t i = 0; i < bound; i++)
			bound = (unsigned char)name[i] < 0x80 ? bound : i;
		MUST(n == 0 || strncmp(name, "__ANON__", 8) == 0 || pyimage_holds(&image, name, bound, 1));
		/* the name of a file follows */
		if (!end || strncmp(name, "__ANON__[", 9) == 0)
			break;
		name = end + 2;
	}
}

static void check_function(void *arg, const struct perl *perl, const struct perl_frame *frame,
			   const struct perl_function *function)
{
	(void)arg;
	MUST(memchr(function->name, '\0', sizeof(function->name)) &&
	     memchr(function->file, '\0', sizeof(function->file)));
	MUST(function->name[0] && function->line <= INT32_MAX);
	MUST(!function->line || (function->address == frame->cop && function->file[0]));
	MUST(function->address == frame->cop || function->address == frame->code ||
	     function->address == perl->interpreter);
	if (checked++ < 16 && (frame->kind == PERL_SUB || frame->kind == PERL_REQUIRE))
		check_parts(function->name);
}

int fuzz_one(const uint8_t *data, size_t n)
{
	struct memory memory;
	struct perl perl;
	struct threadcopy *copy = calloc(1, sizeof(*copy) + THREADCOPY_BYTES);
	struct perl_stack *stack = malloc(sizeof(*stack));

	MUST(copy && stack);
	pyimage_load(&image, (struct str){ (const char *)data, n });
	allowance = (struct readbudget){ .steps = 512 << 10, .bytes = 8 << 20 };
	memory = (struct memory){ 0 };
	checked = 0;
	if (perlimage_open(&image, &memory, &perl) == PERL_OPEN) {
		MUST(perl.eval.n >= 1 && perl.eval.n <= EVALCODE_RANGES_MAX);
		memory.budget = &allowance;
		perlimage_frames(&perl, copy, stack, check_function, NULL);
	} else {
		MUST(perl.why[0]);
	}
	memory_close(&memory);
	pyimage_free(&image);
	free(copy);
	free(stack);
	return 0;
}
