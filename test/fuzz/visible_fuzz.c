/* Names: what is visible is valid UTF-8, nothing of it is a control, and the bytes come back. */
/* covers: common/visible.c */
#include "visible.h"

#include "fuzz.h"

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
	text_free(&seen);
	text_free(&back);
	free(copy);
	return 0;
}
