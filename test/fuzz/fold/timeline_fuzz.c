/* Timelines of JVMs: of any bytes, once as they are, and once as bodies of records, so that sums do not stand in the
 * way. */
/* covers: fold/jvm/timeline.c fold/jvm/frametimes.c common/formats/jmapfile.c */
#include "fold/jvm/timeline.h"

#include "test/fuzz/fuzz.h"
#include "runtimes/hotspot/javaframe.h"
#include "common/formats/jmapfile.h"

/* How much of it is complete records: all of what was written as such. */
static void count_complete(struct str bytes, uint64_t least)
{
	char path[32];
	int fd = fuzz_file(bytes.p, bytes.n, path);
	uint64_t complete = jmap_complete(fd);

	MUST(complete <= bytes.n && complete >= least);
	close(fd);
}

/* Whatever is told of frames: pieces are in order, and none lies in another. */
static void query_frames(struct timeline *timeline)
{
	for (uint64_t i = 0; i < 8; i++) {
		const struct javaunwind_code *c = frametimes_at(timeline_frames(timeline), i * 320);

		MUST(!c || c->n > 0);
		for (size_t k = 0; c && k < c->n; k++) {
			const struct code_blob *p = &c->blob[k];
			int how = frametimes_how(timeline_frames(timeline), p, p->start + i);

			MUST(p->start < p->end && (k == 0 || c->blob[k - 1].end <= p->start));
			MUST(how >= 0 && how <= JAVAFRAME_UNSAVED && p->kind <= BLOB_THAW);
		}
	}
}

static void query(struct timeline *timeline, struct str bytes, const char *why)
{
	enum timeline_sure sure;

	if (!timeline) {
		MUST(why != NULL);
		return;
	}
	MUST(timeline_bad(timeline, &why) <= bytes.n && timeline_count(timeline) <= bytes.n);
	for (uint64_t i = 0; i < 64; i++) {
		uint64_t address = i < 32 ? i * i * 8 : i < 48 ? 0x1000 + i * 16 : UINT64_MAX - 63 + i;
		const struct jit_code *c = timeline_find(timeline, address, i * 40, &sure);

		MUST((c != NULL) == (sure != TIMELINE_NONE));
		MUST(!c || c->inlined.n <= bytes.n * 256);
		MUST(!c || (address >= c->start && address - c->start < c->size && c->name.n <= bytes.n));
	}
	query_frames(timeline);
	timeline_close(timeline);
}

int fuzz_one(const uint8_t *data, size_t n)
{
	struct str rest = { (const char *)data, n };
	struct text file = { 0 };
	const char *why = NULL;
	struct timeline *t;
	char path[32];
	uint64_t value;
	int64_t with_sign;

	count_complete(rest, 0);
	t = timeline_open(fuzz_file(data, n, path), &why);
	query(t, rest, why);
	while (jmap_get(&rest, &value)) { /* what a number is read as is written as, and read again */
		struct text number = { 0 };
		struct str s;

		jmap_signed(&number, (int64_t)value);
		s = text_view(&number);
		MUST(jmap_get_signed(&s, &with_sign) && s.n == 0 && (uint64_t)with_sign == value);
		text_free(&number);
	}
	rest = (struct str){ (const char *)data, n };
	text_str(&file, STR(JMAP_MAGIC));
	while (rest.n > 1) { /* a byte of length, a body */
		size_t size = (unsigned char)rest.p[0];

		rest = str_from(rest, 1);
		size = size == 0 ? 1 : size < rest.n ? size : rest.n;
		jmap_frame(&file, str_head(rest, size));
		rest = str_from(rest, size);
	}
	count_complete(text_view(&file), file.n);
	t = timeline_parse(text_view(&file), &why);
	query(t, text_view(&file), why);
	text_free(&file);
	return 0;
}
