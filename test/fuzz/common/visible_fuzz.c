/* Names: what is visible is valid UTF-8, nothing of it is a control, and the bytes come back. */
/* covers: common/visible.c */
#include "common/filter/out.h"
#include "common/visible.h"

#include "test/fuzz/fuzz.h"

/* What is written is what is shown. */
static void check_out(struct str string, struct str seen)
{
	static struct out o;
	char path[32], *bytes = fuzz_copy(seen.p, seen.n);
	int fd = fuzz_file("", 0, path);

	o = (struct out){ .path = "memory", .fd = dup(fd) };
	out_visible(&o, string);
	out_close(&o);
	MUST(pread(fd, bytes, seen.n, 0) == (ssize_t)seen.n && (seen.n == 0 || memcmp(bytes, seen.p, seen.n) == 0));
	close(fd);
	free(bytes);
}

int fuzz_one(const uint8_t *data, size_t n)
{
	char *copy = fuzz_copy(data, n);
	struct str in = { copy, n };
	struct text seen = { 0 }, back = { 0 };

	visible_str(&seen, in);
	for (struct str s = text_view(&seen); s.n;) {
		uint32_t code = 0;
		size_t length = visible_point(s, &code);
		MUST(length > 0 && code >= 0x20 && (code < 0x7f || code > 0x9f));
		s = str_from(s, length);
	}
	visible_bytes(&back, text_view(&seen));
	MUST(str_eq(in, text_view(&back)));
	/* any text at all may be given */
	back.n = 0;
	visible_bytes(&back, in);
	MUST(back.n <= n);
	check_out(in, text_view(&seen));
	text_free(&seen);
	text_free(&back);
	free(copy);
	return 0;
}
