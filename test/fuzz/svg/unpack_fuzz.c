/* Pictures of strangers: no reading outside, a reason with its place, and what was unpacked can be written. */
/* covers: svg/format/unpack.c */
#include "svg/format/unpack.h"

#include "test/fuzz/fuzz.h"

static void write_it(const struct unpacked *unpacked)
{
	static struct out o;

	o = (struct out){ .path = "memory", .fd = open("/dev/null", O_WRONLY | O_CLOEXEC) };
	unpack_write(&o, unpacked);
	out_close(&o);
}

int fuzz_one(const uint8_t *data, size_t n)
{
	char *copy = fuzz_copy(data, n);
	static struct unpacked u;
	size_t offset = 0;
	const char *why;

	if (FUZZ_GUARD()) {
		free(copy);
		return 0;
	}
	why = unpack_parse(&u, (struct str){ copy, n }, &offset);
	MUST(offset <= n);
	if (!why) {
		MUST(stacks_sum(&u.stacks, 0) <= INT64_MAX && u.columns >= 1 && u.columns <= 2);
		write_it(&u);
	}
	unpack_free(&u);
	free(copy);
	return 0;
}
