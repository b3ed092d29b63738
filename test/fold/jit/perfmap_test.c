/* Perf maps are written by strangers: the last line wins, and whatever else stands there, the rest is used. */
/* covers: fold/jit/perfmap.c */
#include "fold/jit/perfmap.h"
#include "test/lib/tap.h"
#include "common/text.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static int file_of(struct str string)
{
	int fd = memfd_create("map", MFD_CLOEXEC);

	if (fd < 0 || write(fd, string.p, string.n) != (ssize_t)string.n)
		exit(1);
	return fd;
}

static struct perfmap_tally tally;

/* The name that text gives to address. */
static void check(struct str text, uint64_t address, const char *want, const char *what)
{
	struct symbols_query q = { .address = address };
	struct intern names = { 0 };
	int fd = file_of(text);
	ptrdiff_t n = perfmap_resolve(fd, &q, 1, &names, &tally);

	is_str(q.name ? intern_str(&names, q.name) : STR("-"), str_of(want), what);
	ok(n == (q.name != 0), "  number of answers");
	intern_free(&names);
	close(fd);
}

static void check_lines(void)
{
	check(STR("1000 10 f\n"), 0x1000, "f", "first byte");
	check(STR("1000 10 f\n"), 0x100f, "f", "last byte");
	check(STR("1000 10 f\n"), 0x1010, "-", "behind");
	check(STR("1000 10 f\n"), 0xfff, "-", "before");
	check(STR("0x00007f0000001000 0x0000000000000010 void a.B.c(int, D[])\n"), 0x7f0000001008,
	      "void a.B.c(int, D[])", "JDK 17");
	check(STR("1000 10 JS:*work /tmp/b.js:1:14\n"), 0x1000, "JS:*work /tmp/b.js:1:14", "node: blanks in names");
	check(STR("1000 10 f\r\n2000 10 g\r\n"), 0x1001, "f", "CRLF");
	check(STR("\t1000\t10\tf x\n"), 0x1001, "f x", "tabs");
	check(STR("1000 10 f"), 0x1001, "f", "no newline at the end");
	check(STR("1000 0 f\n"), 0x1000, "f", "no size: its start");
	check(STR("1000 0 f\n"), 0x1001, "-", "  alone");
	check(STR("1000 10 old\n1000 10 new\n"), 0x1001, "new", "the last line wins");
	check(STR("1000 100 old\n1080 10 new\n"), 0x1085, "new", "  in the middle of an older one");
	check(STR("1000 100 old\n1080 10 new\n"), 0x1095, "old", "  which stays around it");
	check(STR("1080 10 old\n1000 100 new\n"), 0x1085, "new", "  around an older one");
	check(STR("\0\0\0\0"
		  "1000 10 f\n"),
	      0x1001, "f", "a hole in front, as after truncation");
	check(STR("1000 10 f\0g\n"), 0x1001, "f", "a name ends at NUL");
	check(STR("ffffffffffffffff 0 last\n"), UINT64_MAX, "last", "the last address");
	check(STR("0 ffffffffffffffff all\n"), 0x1001, "all", "all addresses");
	is_u64(tally.bad, 0, "  is not bad");
	check(STR("1 1 a\n\n2 1 b\n"), 2, "b", "blank lines");
	is_u64(tally.bad, 0, "  are not bad");
	is_u64(tally.lines, 3, "  but counted");
	check(STR(""), 2, "-", "an empty file");
	is_u64(tally.lines, 0, "  has no lines");
}

static void check_bad(struct str line, const char *why)
{
	struct text t = { 0 };

	text_add(&t, "1 1 a\n\n");
	text_str(&t, line);
	text_add(&t, "\nzz\n1000 10 f\n");
	check(text_view(&t), 0x1000, "f", why);
	is_u64(tally.bad, 2, "  two are bad");
	is_u64(tally.first_bad, 3, "  the first");
	is_str(str_of(tally.why), str_of(why), "  why");
	text_free(&t);
}

static void check_odd_lines(void)
{
	struct text t = { 0 };

	check_bad(STR("hello 10 x"), "line without a start address");
	check_bad(STR("0x 10 x"), "line without a start address");
	check_bad(STR("12345678123456781 10 x"), "line without a start address");
	check_bad(STR("1000"), "line without a start address");
	check_bad(STR("1000 "), "no size");
	check_bad(STR("1000 10"), "no size");
	check_bad(STR("1000 10 "), "no name");
	check_bad(STR("1000 -1 x"), "no size");
	check_bad(STR("1000 ffffffffffffffff x"), "ends after the last address");
	for (int i = 0; i < 300000; i++)
		text_char(&t, 'x');
	check_bad(text_view(&t), "line is longer than 64 kB");
	t.n = 64 * 1024 + 1;
	check_bad(text_view(&t), "line is longer than 64 kB");
	memcpy(t.p, "2000 10 ", 8);
	t.n = 64 * 1024;
	text_add(&t, "\n1000 10 f\n");
	check(text_view(&t), 0x1000, "f", "64 kB are a line");
	is_u64(tally.bad, 0, "  and not bad");
	text_free(&t);
}

static void check_files(void)
{
	struct symbols_query q = { .address = 0x1000 };
	struct intern names = { 0 };
	int fds[2], dir = open("/", O_RDONLY), fd = memfd_create("sparse", MFD_CLOEXEC);

	if (pipe(fds) == 0)
		ok(perfmap_resolve(fds[0], &q, 1, &names, &tally) == -1, "a pipe is refused");
	ok(perfmap_resolve(dir, &q, 1, &names, &tally) == -1, "a folder");
	ok(perfmap_resolve(open("/dev/zero", O_RDONLY), &q, 1, &names, &tally) == -1, "an endless file");
	if (ftruncate(fd, (off_t)1 << 36) == 0 && pwrite(fd, "\n1000 10 f\n", 11, (off_t)1 << 36) == 11) {
		ok(perfmap_resolve(fd, &q, 1, &names, &tally) == 1, "64 GB of nothing, and a line at the end");
		ok(tally.cut, "  cut is said");
	}
	close(fd);
	intern_free(&names);
}

/* A file that changes its size all the time: any answer, no crash. */
static void check_changing(void)
{
	struct text t = { 0 };
	struct symbols_query q[64];
	struct intern names = { 0 };
	pid_t child;
	int fd;

	for (int i = 0; i < 20000; i++)
		text_printf(&t, "%x 10 function_%d\n", i * 16, i);
	fd = file_of(text_view(&t));
	child = fork();
	if (child == 0)
		for (off_t n = 0;; n = (n * 7 + 12345) % (off_t)t.n)
			if (ftruncate(fd, n) < 0 || pwrite(fd, t.p, t.n, 0) < 0)
				_exit(0);
	for (int round = 0; round < 50; round++) {
		for (size_t i = 0; i < countof(q); i++)
			q[i] = (struct symbols_query){ .address = i * 1000 };
		if (perfmap_resolve(fd, q, countof(q), &names, &tally) < 0)
			ok(false, "cannot be read");
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	ok(true, "a file that grows and shrinks while it is read");
	close(fd);
	intern_free(&names);
	text_free(&t);
}

/* Any map: what a walk over all lines, where the last one wins, finds. */
static void check_law(unsigned seed)
{
	enum { LINES = 3000, QUERIES = 400 };
	static uint64_t start[LINES], size[LINES];
	static struct symbols_query q[QUERIES];
	struct intern names = { 0 };
	struct text t = { 0 };
	uint64_t range, address = 0;
	ptrdiff_t got, want = 0;
	unsigned wrong = 0;
	int fd;

	srandom(seed);
	range = seed % 2 ? 5000 : UINT64_MAX / 2;
	for (size_t i = 0; i < LINES; i++) {
		start[i] = (uint64_t)random() * (uint64_t)random() % range;
		size[i] = (uint64_t)random() % (range / 50);
		text_printf(&t, "%s%llx %llx %zu\n", i % 2 ? "0x" : "", (unsigned long long)start[i],
			    (unsigned long long)size[i], i);
	}
	for (size_t i = 0; i < QUERIES; i++) {
		address += (uint64_t)random() % (range / QUERIES / 2) + 1;
		q[i] = (struct symbols_query){ .address = address };
	}
	fd = file_of(text_view(&t));
	got = perfmap_resolve(fd, q, QUERIES, &names, &tally);
	for (size_t k = 0; k < QUERIES; k++) {
		char name[24] = "";
		uint64_t offset = 0;

		for (size_t i = 0; i < LINES; i++)
			if (q[k].address >= start[i] && q[k].address - start[i] < (size[i] ? size[i] : 1)) {
				snprintf(name, sizeof(name), "%zu", i);
				offset = q[k].address - start[i];
			}
		want += name[0] != 0;
		wrong += !str_eq(q[k].name ? intern_str(&names, q[k].name) : STR(""), str_of(name));
		wrong += q[k].name && q[k].offset != (offset < UINT32_MAX ? offset : UINT32_MAX);
	}
	is_u64(wrong, 0, "as a walk over all lines finds");
	ok(got == want, "  as many");
	close(fd);
	intern_free(&names);
	text_free(&t);
}

int main(void)
{
	check_lines();
	check_odd_lines();
	check_files();
	check_changing();
	for (unsigned seed = 0; seed < 6; seed++)
		check_law(seed);
	return done();
}
