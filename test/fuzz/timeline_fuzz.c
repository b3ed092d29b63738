/* Timelines of JVMs: of any bytes, once as they are, and once as bodies of records, so that sums do not stand in the way. */
/* covers: fold/timeline.c common/jmapfile.c */
#include "fold/timeline.h"

#include "fuzz.h"
#include "jmapfile.h"

static void ask(struct str bytes)
{
	const char *why;
	struct timeline *t = timeline_parse(bytes, &why);
	enum timeline_sure sure;

	if (!t) {
		MUST(why != NULL);
		return;
	}
	MUST(timeline_bad(t, &why) <= bytes.n && timeline_count(t) <= bytes.n);
	for (uint64_t i = 0; i < 64; i++) {
		uint64_t address = i < 32 ? i * i * 8 : i < 48 ? 0x1000 + i * 16 : UINT64_MAX - 63 + i;
		const struct jitdump_code *c = timeline_find(t, address, i * 40, &sure);

		MUST((c != NULL) == (sure != TIMELINE_NONE));
		MUST(!c || (address >= c->start && address - c->start < c->size && c->name.n <= bytes.n));
	}
	timeline_close(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct str rest = { (const char *)data, n };
	struct text file = { 0 };

	ask(rest);
	text_str(&file, STR(JMAP_MAGIC));
	while (rest.n > 1) { /* a byte of length, a body */
		size_t size = (unsigned char)rest.p[0];

		rest = str_from(rest, 1);
		size = size == 0 ? 1 : size < rest.n ? size : rest.n;
		jmap_frame(&file, str_head(rest, size));
		rest = str_from(rest, size);
	}
	ask(text_view(&file));
	text_free(&file);
	return 0;
}
