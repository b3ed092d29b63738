/* Mangled names: the demanglers end, and what they make is of a bearable size. */
/* covers: fold/symbols/demangle.c */
#include "fold/symbols/elfsyms.h"

#include "test/fuzz/fuzz.h"
#include "common/text.h"

int fuzz_one(const uint8_t *data, size_t n)
{
	char *copy = fuzz_copy(data, n);
	struct text out = { 0 };

	text_add(&out, "before");
	if (elfsyms_demangle(&out, (struct str){ copy, n }))
		MUST(out.n > 6 && out.n <= 6 + 16384);
	else
		MUST(out.n == 6);
	MUST(memcmp(out.p, "before", 6) == 0);
	text_free(&out);
	free(copy);
	return 0;
}
