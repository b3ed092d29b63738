/* Code that moved or was replaced must have the name that was valid at the time. */
/* covers: fold/jit/jitdump.c */
#include "fold/jit/jitdump.h"
#include "test/fold/jit/jitdump_write.h"
#include "test/lib/tap.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static int file_of(struct str string)
{
	int fd = memfd_create("jitdump", MFD_CLOEXEC);

	if (fd < 0 || write(fd, string.p, string.n) != (ssize_t)string.n)
		exit(1);
	return fd;
}

static struct jitdump *open_text(const struct text *text)
{
	const char *why = NULL;
	struct jitdump *j = jitdump_open(file_of(text_view(text)), &why);

	if (!j)
		printf("# %s\n", why);
	return j;
}

static struct str name(const struct jitdump *jitdump, uint64_t address, uint64_t time)
{
	const struct jit_code *c = jitdump ? jitdump_find(jitdump, address, time) : NULL;

	return c ? c->name : STR("-");
}

static void check_time(void)
{
	struct text t = { 0 };
	struct jitdump *j;
	const struct jit_code *c;
	const char *why;

	jit_header(&t, 77, 0);
	jit_unwind(&t, 5, STR("frames"), 3);
	jit_debug(&t, 9, 0x1000, 42, "a b.js");
	jit_load(&t, 10, 0x1000, 0x100, 1, "one");
	jit_load(&t, 20, 0x2000, 0x100, 2, "two");
	jit_load(&t, 30, 0x1080, 0x100, 3, "over one");
	jit_move(&t, 40, 0x2000, 0x3000, 0x100, 2);
	jit_end(&t, jit_begin(&t, 99, 41)); /* of a later version */
	jit_load(&t, 35, 0x4000, 0, 4, "no size, late");
	jit_load(&t, 50, UINT64_MAX - 16, 16, 5, "at the end");
	jit_close(&t, 60);
	j = open_text(&t);
	is_u64(jitdump_pid(j), 77, "pid");
	ok(!jitdump_arch_clock(j), "the clock is CLOCK_MONOTONIC");
	is_u64(jitdump_bad(j, &why), 0, "nothing is bad");
	is_str(name(j, 0x1000, 9), STR("-"), "before it was loaded");
	is_str(name(j, 0x1000, 10), STR("one"), "from then on");
	is_str(name(j, 0x10ff, 29), STR("one"), "up to its end");
	is_str(name(j, 0x1100, 29), STR("-"), "behind it");
	is_str(name(j, 0x10ff, 30), STR("over one"), "covered by newer code");
	is_str(name(j, 0x107f, 30), STR("one"), "what is not covered stays");
	is_str(name(j, 0x10ff, 29), STR("one"), "the past stays");
	is_str(name(j, 0x2000, 39), STR("two"), "before the move");
	is_str(name(j, 0x3000, 39), STR("-"), "  where it goes");
	is_str(name(j, 0x2000, 40), STR("-"), "after the move");
	is_str(name(j, 0x30ff, 40), STR("two"), "  where it went");
	is_str(name(j, 0x10ff, 0), STR("over one"), "time 0 is the newest");
	is_str(name(j, 0x4000, 35), STR("no size, late"), "without size, and out of order");
	is_str(name(j, 0x4001, 35), STR("-"), "  one byte on");
	is_str(name(j, UINT64_MAX - 1, 50), STR("at the end"), "end of the address space");
	is_str(name(j, UINT64_MAX, 50), STR("-"), "  its last byte");
	is_str(name(j, 0, 0), STR("-"), "before all");
	c = jitdump_find(j, 0x1000, 10);
	is_str(c->unwind, STR("frames"), ".eh_frame without its header");
	is_str(c->file, STR("a b.js"), "file");
	is_u64(c->line, 42, "line");
	c = jitdump_find(j, 0x2000, 20);
	ok(c && c->unwind.n == 0 && c->line == 0, "they are not of the next code");
	jitdump_close(j);
	text_free(&t);
}

/* Code ends with its runtime: its addresses may then have other code, which the file does not describe. */
static void check_close(void)
{
	struct text t = { 0 };
	struct jitdump *j;
	const char *why;

	jit_header(&t, 77, 0);
	jit_close(&t, 5); /* before any code */
	jit_load(&t, 10, 0x1000, 0x100, 1, "one");
	jit_move(&t, 15, 0x1000, 0x2000, 0x100, 1);
	jit_close(&t, 20);
	jit_close(&t, 25); /* ends nothing */
	jit_load(&t, 30, 0x2080, 0x80, 1, "again");
	jit_load(&t, 40, 0x5000, 0x80, 2, "never closed");
	j = open_text(&t);
	is_u64(jitdump_bad(j, &why), 0, "CODE_CLOSE is valid");
	is_str(name(j, 0x1000, 14), STR("one"), "code before the end of its runtime");
	is_str(name(j, 0x2080, 19), STR("one"), "  also moved");
	is_str(name(j, 0x2000, 20), STR("-"), "no code from the end of the runtime on");
	is_str(name(j, 0x2080, 29), STR("-"), "  until another one loads code");
	is_str(name(j, 0x2080, 30), STR("again"), "  which has its own name");
	is_str(name(j, 0x2000, 31), STR("-"), "  beside it the old name does not return");
	is_str(name(j, 0x5000, 99), STR("never closed"), "the new runtime has not ended");
	is_str(name(j, 0x2000, 0), STR("one"), "without a time: the newest code");
	jitdump_close(j);
	text_free(&t);
}

/* What precedes a CODE_LOAD is of this record alone, even if it is invalid. */
static void check_invalid_load(void)
{
	struct text t = { 0 };
	const struct jit_code *c;
	struct jitdump *j;
	const char *why;
	size_t at;

	jit_header(&t, 77, 0);
	jit_unwind(&t, 5, STR("frames"), 3);
	jit_debug(&t, 9, 0x1000, 42, "a.js");
	at = jit_begin(&t, 0, 10); /* a CODE_LOAD without all that belongs to it */
	jit_u64(&t, 1);
	jit_end(&t, at);
	jit_load(&t, 20, 0x1000, 0x100, 1, "one");
	j = open_text(&t);
	is_u64(jitdump_bad(j, &why), 1, "a record that is too short is bad");
	c = jitdump_find(j, 0x1000, 20);
	ok(c && c->unwind.n == 0, "the next code does not get its unwind tables");
	ok(c && c->line == 0 && c->file.n == 0, "  nor its line");
	jitdump_close(j);
	text_free(&t);
}

static void check_refused(struct str bytes, const char *want)
{
	const char *why = NULL;
	struct jitdump *j = jitdump_open(file_of(bytes), &why);

	ok(!j && why && strcmp(why, want) == 0, want);
	jitdump_close(j);
}

static void check_head(void)
{
	struct text t = { 0 };
	const char *why = NULL;
	struct jitdump *j;
	int fds[2];

	jit_header(&t, 1, 1);
	j = open_text(&t);
	ok(jitdump_arch_clock(j), "times may be those of the processor");
	jitdump_close(j);
	check_refused(str_head(text_view(&t), 39), "too short for a jitdump");
	check_refused(STR(""), "too short for a jitdump");
	t.p[4] = 2;
	check_refused(text_view(&t), "jitdump of an unknown version");
	t.p[4] = 1;
	t.p[8] = 41;
	check_refused(text_view(&t), "incomplete header");
	memcpy(t.p, "JiTD", 4);
	check_refused(text_view(&t), "jitdump of the other byte order");
	memcpy(t.p, "XXXX", 4);
	check_refused(text_view(&t), "not a jitdump");
	text_free(&t);
	if (pipe(fds) == 0) {
		ok(!jitdump_open(fds[0], &why) && strcmp(why, "not a regular file") == 0, "a pipe");
		close(fds[1]);
	}
}

/* The record that begins at `at` is made bad; what is before and behind it is used. */
static void check_bad(const struct text *text, size_t at, size_t where, uint64_t value, size_t n, const char *want,
		      const char *second)
{
	struct text copy = { 0 };
	const char *why = NULL;
	struct jitdump *j;

	text_str(&copy, text_view(text));
	memcpy(copy.p + at + where, &value, n);
	j = open_text(&copy);
	ok(j && jitdump_bad(j, &why) == 1 && strcmp(why, want) == 0, want);
	is_u64(jitdump_first_bad(j), at, "  its place");
	is_str(name(j, 0x1000, 0), STR("one"), "  what was before");
	is_str(name(j, 0x3000, 0), str_of(second), "  what comes behind");
	jitdump_close(j);
	text_free(&copy);
}

static void check_input_errors(void)
{
	struct text t = { 0 };
	struct jitdump *j;
	const char *why;
	size_t at;

	jit_header(&t, 1, 0);
	jit_load(&t, 10, 0x1000, 0x10, 1, "one");
	at = t.n;
	jit_load(&t, 20, 0x2000, 0x10, 2, "two");
	jit_load(&t, 30, 0x3000, 0x10, 3, "three");
	check_bad(&t, at, 4, 0, 4, "record is shorter than its header", "-");
	check_bad(&t, at, 4, 0xfffffff0, 4, "incomplete last record", "-");
	check_bad(&t, at, 40, 0xffffffffffffull, 8, "code is longer than its record", "three");
	check_bad(&t, at, 32, UINT64_MAX, 8, "code ends after the last address", "three");
	check_bad(&t, at, 0, 1, 1, "moves code that was not loaded", "three");
	check_bad(&t, at, 0, 4, 1, "unwind tables are longer than their record", "three");
	t.n -= 3;
	j = open_text(&t);
	ok(jitdump_bad(j, &why) == 1 && str_eq(name(j, 0x2000, 0), STR("two")), "cut in the last record");
	is_str(name(j, 0x3000, 0), STR("-"), "  which is lost");
	jitdump_close(j);
	text_free(&t);
}

/* Any sequence of loads and moves: what a walk over all of them finds. */
static void check_law(unsigned seed)
{
	struct one {
		uint64_t time, start, size;
		int name; /* -1: gone */
	} all[1200];      /* three for each of 400 loads */
	struct text t = { 0 };
	struct jitdump *j;
	size_t n = 0;
	unsigned wrong = 0;

	srandom(seed);
	jit_header(&t, 1, 0);
	for (uint64_t i = 0; n < countof(all) - 2; i++) {
		uint64_t time = i + (uint64_t)random() % 8, start = (uint64_t)random() % 500,
			 size = (uint64_t)random() % 60;
		char text[16];

		snprintf(text, sizeof(text), "f%d", (int)i);
		jit_load(&t, time, start, size, i, text);
		all[n++] = (struct one){ time, start, size, (int)i };
		if (random() % 3 == 0) {
			uint64_t to = (uint64_t)random() % 500, later = time + (uint64_t)random() % 20;

			jit_move(&t, later, start, to, size, i);
			all[n++] = (struct one){ later, start, size, -1 };
			all[n++] = (struct one){ later, to, size, (int)i };
		}
	}
	j = open_text(&t);
	for (int k = 0; k < 5000; k++) {
		uint64_t address = (uint64_t)random() % 600, time = (uint64_t)random() % 450 + 1;
		int best = -1;
		char want[16] = "-";
		size_t at = 0;

		for (size_t i = 0; i < n; i++) {
			uint64_t span = all[i].size ? all[i].size : 1;

			if (address >= all[i].start && address - all[i].start < span && all[i].time <= time &&
			    (best < 0 || all[i].time >= all[at].time)) {
				best = all[i].name;
				at = i;
				snprintf(want, sizeof(want), best < 0 ? "-" : "f%d", best);
				best = 0;
			}
		}
		if (!str_eq(name(j, address, time), str_of(want)))
			wrong++;
	}
	is_u64(wrong, 0, "as a walk over all records finds");
	jitdump_close(j);
	text_free(&t);
}

int main(void)
{
	struct text t = { 0 };
	struct jitdump *j;

	check_time();
	check_close();
	check_invalid_load();
	check_head();
	check_input_errors();
	for (unsigned seed = 0; seed < 5; seed++)
		check_law(seed);
	jit_header(&t, 1, 0);
	j = open_text(&t);
	is_str(name(j, 1, 1), STR("-"), "an empty jitdump");
	jitdump_close(j);
	text_free(&t);
	return done();
}
