/* Timelines of JVMs: what was certainly there wins over what may have been; what is torn or makes no sense is left out,
 * with its place. */
/* covers: fold/jvm/timeline.c fold/jvm/frametimes.c common/formats/jmapfile.c */
#include "fold/jvm/timeline.h"

#include "runtimes/hotspot/blobcodec.h"
#include "common/formats/jmapfile.h"
#include "test/lib/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct text file;

static void add(struct text *body)
{
	jmap_frame(&file, text_view(body));
	text_free(body);
	*body = (struct text){ 0 };
}

static void start(void)
{
	struct text b = { 0 };

	text_char(&b, JMAP_START);
	text_add(&b, "boot=b pid=1");
	add(&b);
}

static void names(const char *const *name, size_t n)
{
	struct text b = { 0 };

	text_char(&b, JMAP_NAMES);
	jmap_number(&b, n);
	for (size_t i = 0; i < n; i++) {
		jmap_number(&b, strlen(name[i]));
		text_add(&b, name[i]);
	}
	add(&b);
}

struct code {
	uint64_t begin, size, name;
};

/* A scan at now, of 10 ns; the one before at before. */
static void scan(uint64_t before, uint64_t now, const uint64_t *gone, size_t ngone, const struct code *come,
		 size_t ncome)
{
	struct text b = { 0 };
	uint64_t last = 0;

	text_char(&b, JMAP_SCAN);
	jmap_number(&b, before);
	jmap_number(&b, before ? 10 : 0);
	jmap_number(&b, now);
	jmap_number(&b, 10);
	jmap_number(&b, ngone);
	for (size_t i = 0; i < ngone; last = gone[i++])
		jmap_signed(&b, (int64_t)(gone[i] - last));
	jmap_number(&b, ncome);
	last = 0;
	for (size_t i = 0; i < ncome; last = come[i++].begin) {
		jmap_signed(&b, (int64_t)(come[i].begin - last));
		jmap_number(&b, come[i].size);
		jmap_number(&b, JMAP_COMPILED);
		jmap_number(&b, 100 + i);
		jmap_number(&b, 4);
		jmap_number(&b, come[i].name);
	}
	add(&b);
}

static struct timeline *now;

static void check(uint64_t address, uint64_t time, const char *want, enum timeline_sure how, const char *what)
{
	enum timeline_sure sure;
	const struct jit_code *code = timeline_find(now, address, time, &sure);

	is_str(code ? code->name : STR("(none)"), str_of(want), what);
	ok(sure == how, "  as sure as that");
}

static struct timeline *parse(void)
{
	const char *why = NULL;
	struct timeline *t = timeline_parse(text_view(&file), &why);

	now = t;
	return t;
}

static void times(void)
{
	static const char *const name[] = { "A.a()", "B.b()", "C.c()" };
	static const struct code first[] = { { 0x1000, 0x100, 0 }, { 0x3000, 0x80, 1 } },
				 second[] = { { 0x1040, 0x20, 2 } };
	static const uint64_t gone[] = { 0 };
	struct timeline *t;
	const char *why;

	file.n = 0;
	text_str(&file, STR(JMAP_MAGIC));
	start();
	names(name, 3);
	scan(0, 1000, NULL, 0, first, 2);
	scan(2000, 3000, gone, 1, second, 1);
	t = parse();
	ok(timeline_bad(t, &why) == 0 && timeline_count(t) == 3, "three pieces of code");
	check(0x1050, 1500, "A.a()", TIMELINE_SURE, "between scans that saw it");
	check(0x1050, 2000, "A.a()", TIMELINE_SURE, "when the last scan that saw it began");
	check(0x1000, 500, "A.a()", TIMELINE_LIKELY, "before the first scan it may have been there");
	check(0x1050, 2500, "C.c()", TIMELINE_AMBIGUOUS,
	      "between the last scan that saw one and the first that saw another: the later");
	check(0x1010, 2500, "A.a()", TIMELINE_LIKELY, "where the later is not, what was there");
	check(0x1050, 3010, "C.c()", TIMELINE_SURE, "when it was seen");
	check(0x1010, 3011, "(none)", TIMELINE_NONE, "what is gone is gone");
	check(0x1060, 9000, "(none)", TIMELINE_NONE, "behind its end");
	check(0x307f, 99999, "B.b()", TIMELINE_SURE, "what never went is still there");
	check(0x3080, 99999, "(none)", TIMELINE_NONE, "its end is not its own");
	check(0xfff, 1500, "(none)", TIMELINE_NONE, "before all");
	check(0x1050, 0, "C.c()", TIMELINE_SURE, "without a time: the newest");
	timeline_close(t);
}

static void inlined_chain(uint64_t address, const char *want, const char *what)
{
	enum timeline_sure sure;
	const struct jit_code *code = timeline_find(now, address, 0, &sure);
	struct text t = { 0 };

	if (code)
		text_str(&t, code->inlined);
	for (size_t i = 0; i < t.n; i++)
		if (t.p[i] == 0)
			t.p[i] = '>';
	is_str(text_view(&t), str_of(want), what);
	text_free(&t);
}

static void inlined(void)
{
	static const char *const name[] = { "A.a()", "B.b()", "C.c()" }, *const other[] = { "X.x()" };
	static const struct code code[] = { { 0x1000, 0x100, 0 } };
	static const unsigned char calls[] = { JMAP_INLINED, 0, 2, 0, 1, 1, 2, 3, 0x10, 0, 0x10, 2, 0x10, 1 };
	struct text b = { 0 };
	struct timeline *t;
	const char *why;

	file.n = 0;
	text_str(&file, STR(JMAP_MAGIC));
	start();
	names(name, 3);
	scan(0, 1000, NULL, 0, code, 1);
	text_bytes(&b, calls, sizeof(calls)); /* piece 0: b in a, c in b; to 0x10: a, to 0x20: c, to 0x30: b */
	add(&b);
	start();
	names(other, 1);
	t = parse();
	ok(timeline_bad(t, &why) == 0, "inlined calls are read");
	inlined_chain(0x1010, "", "up to the end of the first run: the method itself");
	inlined_chain(0x1011, "B.b()>C.c()", "behind it: two calls, the outer one first");
	inlined_chain(0x1020, "B.b()>C.c()", "  to its end");
	inlined_chain(0x1021, "B.b()", "one call");
	inlined_chain(0x1031, "", "behind all runs: the method itself");
	timeline_close(t);
	file.p[file.n - 1] ^= 1;
}

/* pjmap ended and began again: numbers begin at 0, what it did not see it may have missed. */
static void again(void)
{
	static const char *const name[] = { "A.a()", "B.b()" }, *const other[] = { "N.n()" };
	static const struct code first[] = { { 0x1000, 0x100, 0 }, { 0x2000, 0x100, 1 } },
				 second[] = { { 0x1000, 0x100, 0 } };
	struct timeline *t;

	file.n = 0;
	text_str(&file, STR(JMAP_MAGIC));
	start();
	names(name, 2);
	scan(0, 1000, NULL, 0, first, 2);
	start();
	names(other, 1);
	scan(0, 5000, NULL, 0, second, 1);
	t = parse();
	check(0x1000, 1010, "A.a()", TIMELINE_SURE, "the run before");
	check(0x1000, 3000, "N.n()", TIMELINE_AMBIGUOUS, "while nobody looked");
	check(0x2000, 3000, "B.b()", TIMELINE_LIKELY, "  what the next run did not see");
	check(0x2000, 6000, "(none)", TIMELINE_NONE, "  is gone then");
	check(0x1000, 5010, "N.n()", TIMELINE_SURE, "the next run");
	timeline_close(t);
}

static void left_out(uint64_t torn, uint64_t unnamed)
{
	struct text b = { 0 };

	text_char(&b, JMAP_LEFT);
	jmap_number(&b, 1000);
	jmap_number(&b, torn);
	jmap_number(&b, unnamed);
	add(&b);
}

/* What pjmap could not read is told, and nothing else changes. */
static void incomplete(void)
{
	static const char *const name[] = { "A.a()" };
	static const struct code code[] = { { 0x1000, 0x100, 0 } };
	struct timeline *t;

	file.n = 0;
	text_str(&file, STR(JMAP_MAGIC));
	start();
	names(name, 1);
	scan(0, 1000, NULL, 0, code, 1);
	left_out(2, 5);
	left_out(0, 1);
	t = parse();
	is_u64(timeline_left_out(t), 7, "what was left out, of the scan with the most");
	check(0x1000, 1010, "A.a()", TIMELINE_SURE, "  what is there has its name");
	timeline_close(t);
}

/* Frames of compiled pieces, by number, and of a stub at 0x8000. */
static void frames(const uint64_t *number, const struct code *code, const uint32_t *frame, size_t n)
{
	struct code_blob stub = { .start = 0x8000, .end = 0x8100, .kind = BLOB_STUB };
	struct text b = { 0 };

	text_char(&b, JMAP_FRAMES);
	jmap_number(&b, 0x8042);
	jmap_number(&b, 0);
	jmap_number(&b, n);
	for (size_t i = 0; i < n; i++) {
		struct code_blob p = { .start = code[i].begin, .end = code[i].begin + code[i].size, .frame = frame[i] };

		jmap_number(&b, number[i] - (i ? number[i - 1] : 0));
		blobcodec_encode(&b, &p, "\x90", 1);
	}
	jmap_number(&b, 1);
	jmap_signed(&b, (int64_t)stub.start);
	jmap_number(&b, stub.end - stub.start);
	blobcodec_encode(&b, &stub, NULL, 0);
	add(&b);
}

/* The piece at address then, by the size of its frame; 0: none. */
static uint32_t frame_at(struct timeline *timeline, uint64_t address, uint64_t time)
{
	const struct javaunwind_code *c = frametimes_at(timeline_frames(timeline), time);

	for (size_t i = 0; c && i < c->n; i++)
		if (c->blob[i].start <= address && address < c->blob[i].end)
			return c->blob[i].frame;
	return 0;
}

static bool in_order(struct timeline *timeline, uint64_t time)
{
	const struct javaunwind_code *c = frametimes_at(timeline_frames(timeline), time);

	for (size_t i = 0; c && i < c->n; i++)
		if (c->blob[i].start >= c->blob[i].end || (i && c->blob[i].start < c->blob[i - 1].end))
			return false;
	return c && c->n > 0;
}

static void walked(void)
{
	static const char *const name[] = { "A.a()", "B.b()", "C.c()" };
	static const struct code first[] = { { 0x1000, 0x100, 0 }, { 0x3000, 0x80, 1 } },
				 second[] = { { 0x1040, 0x20, 2 } };
	static const uint64_t gone[] = { 0 }, numbers[] = { 0, 1 }, third[] = { 2 }, never[] = { 3 };
	static const uint32_t sizes[] = { 16, 32 }, other[] = { 48 };
	const struct javaunwind_code *c;
	struct timeline *t;
	const char *why;
	size_t complete, ordered = 0;

	file.n = 0;
	text_str(&file, STR(JMAP_MAGIC));
	start();
	names(name, 3);
	scan(0, 1000, NULL, 0, first, 2);
	t = parse();
	ok(!timeline_frames(t) && !frametimes_at(timeline_frames(t), 1500), "a timeline without frames has none");
	timeline_close(t);
	frames(numbers, first, sizes, 2);
	scan(2000, 3000, gone, 1, second, 1);
	frames(third, second, other, 1);
	complete = file.n;
	t = parse();
	ok(timeline_bad(t, &why) == 0, "frames are read");
	is_u64(frame_at(t, 0x1050, 1500), 16, "between scans that saw it");
	is_u64(frame_at(t, 0x1050, 2500), 48, "between two scans: the later, where there are two");
	is_u64(frame_at(t, 0x1050, 4000), 48, "when it was seen");
	is_u64(frame_at(t, 0x1010, 4000), 0, "what is gone is gone");
	is_u64(frame_at(t, 0x3010, 1500), 32, "back in time: what never went");
	is_u64(frame_at(t, 0x3010, 0), 32, "without a time: the newest");
	is_u64(frame_at(t, 0x1010, 0), 0, "  and nothing else");
	for (uint64_t time = 0; time < 5000; time += 100)
		ordered += in_order(t, time);
	is_u64(ordered, 50, "at any time in order, and none in another");
	c = frametimes_at(timeline_frames(t), 1500);
	ok(c && c->call_stub_return == 0x8042 && c->continuation_return == 0, "and where native code calls Java");
	timeline_close(t);
	frames(never, second, other, 1);
	t = parse();
	is_u64(timeline_bad(t, &why), complete, "of code that never came: its place");
	is_u64(frame_at(t, 0x1050, 4000), 48, "  what is before is used");
	timeline_close(t);
}

static void damaged(void)
{
	static const char *const name[] = { "A.a()" };
	static const struct code code[] = { { 0x1000, 0x100, 0 } }, nameless[] = { { 0x2000, 0x100, 7 } };
	static const uint64_t gone[] = { 5 };
	struct timeline *t;
	const char *why = NULL;
	size_t complete, good = 0;

	ok(!timeline_parse(STR("perf"), &why) && why, "another file is refused");
	file.n = 0;
	text_str(&file, STR(JMAP_MAGIC));
	start();
	names(name, 1);
	scan(0, 1000, NULL, 0, code, 1);
	complete = file.n;
	scan(1000, 2000, NULL, 0, nameless, 1);
	t = parse();
	is_u64(timeline_bad(t, &why), complete, "code without a name: its place");
	check(0x1000, 1500, "A.a()", TIMELINE_SURE, "  what is before is used");
	timeline_close(t);
	file.n = complete;
	scan(1000, 2000, gone, 1, NULL, 0);
	t = parse();
	is_u64(timeline_bad(t, &why), complete, "removal of code that was never added: its place");
	timeline_close(t);
	for (size_t n = JMAP_MAGIC_BYTES; n < complete; n++) { /* cut anywhere */
		t = timeline_parse(str_head(text_view(&file), n), &why);
		good += t && timeline_count(t) == 0;
		timeline_close(t);
	}
	is_u64(good, complete - JMAP_MAGIC_BYTES, "cut anywhere in its last record: without it");
	file.n = complete;
	file.p[complete - 3] ^= 1;
	t = parse();
	ok(timeline_bad(t, &why) > 0 && timeline_count(t) == 0, "one bit: not used");
	timeline_close(t);
}

static void numbers(void)
{
	static const uint64_t known[] = {
		0, 1, 127, 128, 16383, 16384, UINT32_MAX, INT64_MAX, (uint64_t)INT64_MAX + 1, UINT64_MAX
	};
	struct text t = { 0 };
	bool same = true;

	for (size_t i = 0; i < countof(known); i++) {
		struct str s;
		uint64_t back;
		int64_t sback;

		t.n = 0;
		jmap_number(&t, known[i]);
		s = text_view(&t);
		same = same && jmap_get(&s, &back) && s.n == 0 && back == known[i];
		t.n = 0;
		jmap_signed(&t, (int64_t)known[i]);
		s = text_view(&t);
		same = same && jmap_get_signed(&s, &sback) && s.n == 0 && sback == (int64_t)known[i];
	}
	ok(same, "numbers come back");
	text_free(&t);
}

/* Opens what is no timeline: the reason names the cause. */
static void unusable(void)
{
	const char *why = NULL;
	int end[2];

	ok(!timeline_open(open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC), &why), "a directory is none");
	is_str(str_of(why), STR("not a regular file"), "  that is the reason");
	ok(pipe(end) == 0 && !timeline_open(end[0], &why), "nor is a pipe");
	is_str(str_of(why), STR("not a regular file"), "  that is the reason");
	close(end[1]);
	ok(!timeline_open(-1, &why), "nor what could not be opened");
	is_str(str_of(why), str_of(strerror(EBADF)), "  that is the reason");
}

int main(void)
{
	numbers();
	times();
	inlined();
	again();
	incomplete();
	walked();
	damaged();
	unusable();
	text_free(&file);
	return done();
}
