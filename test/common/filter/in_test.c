/* in_test - files, pipes, gzip by content; what is cut or damaged. */
/* covers: common/filter/in.c */
#include "common/filter/in.h"

#include "test/lib/child.h"
#include "test/lib/tap.h"

#include <fcntl.h>
#include <stdlib.h>
#include <zlib.h>

static char dir[] = "/tmp/pj-in-test.XXXXXX";
static char path[64];
static struct child c;

static void put(const void *p, size_t n)
{
	FILE *f = fopen(path, "wb");

	if (!f || fwrite(p, 1, n, f) != n || fclose(f) != 0)
		abort();
}

/* One gzip member of p; returns its size. */
static size_t member(char *to, size_t cap, const char *p, size_t n)
{
	z_stream z = { .next_in = (unsigned char *)(uintptr_t)p,
		       .avail_in = (unsigned)n,
		       .next_out = (unsigned char *)to,
		       .avail_out = (unsigned)cap };

	if (deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK ||
	    deflate(&z, Z_FINISH) != Z_STREAM_END)
		abort();
	deflateEnd(&z);
	return cap - z.avail_out;
}

/* All lines joined by '|' */
static struct str lines_of(struct in *in)
{
	static char text[1 << 20];
	struct str line;
	size_t n = 0;

	while (in_line(in, &line) && n + line.n + 1 < sizeof(text)) {
		memcpy(text + n, line.p, line.n);
		n += line.n;
		text[n++] = '|';
	}
	return (struct str){ text, n };
}

static void reads(const char *content, size_t n, const char *want, const char *what)
{
	struct in in;

	put(content, n);
	in_open(&in, path);
	is_str(lines_of(&in), str_of(want), what);
	ok(in.errors == NULL && in.progress.total == n && in.nread == n, "no damage, size and bytes read are known");
	in_close(&in);
}

static void plain(void)
{
	static char big[300 * 1024 + 10];
	struct in in;
	struct str line;

	reads("", 0, "", "an empty file has no lines");
	reads("\n", 1, "|", "one empty line");
	reads("a\nb\n", 4, "a|b|", "two lines");
	reads("a\n\nb", 4, "a||b|", "the last line needs no newline");
	reads("x", 1, "x|", "one byte");
	reads("a\r\nb\r\n", 6, "a\r|b\r|", "CR stays");
	reads("\x1f", 1, "\x1f|", "the first byte of gzip alone is text");
	reads("\x1fx\n", 3, "\x1fx|", "so it is before another byte");

	memset(big, 'y', sizeof(big));
	big[sizeof(big) - 9] = '\n';
	put(big, sizeof(big));
	in_open(&in, path);
	ok(in_line(&in, &line) && line.n == sizeof(big) - 9 && in.line == 1, "a line longer than any buffer");
	ok(in_line(&in, &line) && line.n == 8 && in.line == 2 && in_place(&in).line == 2, "and the one behind it");
	ok(!in_line(&in, &line) && !in_line(&in, &line), "the end stays the end");
	in_close(&in);

	put("a\0b\n", 4);
	in_open(&in, path);
	ok(in_line(&in, &line) && line.n == 3 && line.p[1] == 0, "NUL is a byte like others");
	in_close(&in);

	/* every length around the sizes of the buffers */
	for (size_t n = 64 * 1024 - 2; n <= 64 * 1024 + 2; n++) {
		struct str second;

		memset(big, 'z', n);
		big[n] = '\n';
		big[n + 1] = 'q';
		put(big, n + 2);
		in_open(&in, path);
		ok(in_line(&in, &line) && line.n == n && in_line(&in, &second) && str_eq(second, STR("q")) &&
			   !in_line(&in, &line),
		   "a line that ends at the border of a block");
		in_close(&in);
	}
}

/* Lines with what they share with the line before, at every place of a buffer's end. */
static void after(void)
{
	static char text[600 * 1024], before[70 * 1024];
	uint64_t seed = 1;
	bool right = true;

	for (int round = 0; round < 40 && right; round++) {
		size_t n = 0, nbefore = 0, nlines = 0, same, from = 0;
		struct str line;
		struct in in;

		while (n < sizeof(text) - sizeof(before)) { /* a beginning of the line before, and something else */
			size_t shared, other;

			seed = seed * 6364136223846793005u + 1442695040888963407u;
			shared = nbefore ? (seed >> 33) % (nbefore + 1) : 0;
			other = (seed >> 20) % (round % 8 ? 300 : 60 * 1024);
			memcpy(text + n, before, shared);
			memset(text + n + shared, 'a' + (int)(seed >> 60), other);
			nbefore = shared + other < sizeof(before) ? shared + other : sizeof(before);
			memcpy(before, text + n, nbefore);
			n += nbefore;
			if (n < sizeof(text) - sizeof(before) || round % 2)
				text[n++] = '\n';
			nlines++;
		}
		put(text, n);
		in_open(&in, path);
		for (struct str last = { 0 }; in_line_after(&in, &line, &same); nlines--) {
			right = right && line.n <= n - from && memcmp(line.p, text + from, line.n) == 0 &&
				same == str_common(last, line) && (from + line.n == n || text[from + line.n] == '\n');
			last = (struct str){ text + from, line.n };
			from += line.n + 1;
		}
		right = right && nlines == 0 && from >= n;
		in_close(&in);
	}
	ok(right, "lines, and what they share with the line before");
	put("\xEF\xBB\xBF"
	    "ab\nabc\n",
	    10);
	struct str line;
	size_t same;
	struct in in;
	in_open(&in, path);
	in_expect_text(&in);
	ok(in_line_after(&in, &line, &same) && line.n == 2 && same == 0 && in_line_after(&in, &line, &same) &&
		   line.n == 3 && same == 2,
	   "behind a byte order mark");
	in_close(&in);
}

static void pipes(void)
{
	struct in in;
	int fd[2], status;
	char packed[256];
	size_t n = member(packed, sizeof(packed), "one\ntwo\n", 8);

	for (int gzip = 0; gzip < 2; gzip++) {
		const char *content = gzip ? packed : "one\ntwo\n";
		size_t size = gzip ? n : 8;
		pid_t pid;
		int saved = dup(STDIN_FILENO);

		if (pipe(fd) < 0)
			abort();
		fflush(NULL);
		pid = fork();
		if (pid == 0) {
			for (size_t i = 0; i < size; i++) {
				if (write(fd[1], content + i, 1) != 1)
					_exit(1);
				usleep(200);
			}
			_exit(0);
		}
		close(fd[1]);
		dup2(fd[0], STDIN_FILENO);
		close(fd[0]);
		in_open(&in, gzip ? "-" : NULL);
		is_str(str_of(in.name), STR("standard input"), "the name of standard input");
		is_str(lines_of(&in), STR("one|two|"),
		       gzip ? "gzip from a pipe, byte by byte" : "a pipe, byte by byte");
		ok(in.progress.total == 0 && in.nread == size, "size not known, bytes counted");
		in_close(&in);
		waitpid(pid, &status, 0);
		dup2(saved, STDIN_FILENO);
		close(saved);
	}
}

/* A text of odd lines and its one gzip member, which the tests below cut and damage. */
static char text[200000], packed[300000], back[200001];

static void gzip_members(void)
{
	struct in in;
	size_t n;

	n = member(packed, sizeof(packed), "a\nb", 3);
	n += member(packed + n, sizeof(packed) - n, "", 0);
	n += member(packed + n, sizeof(packed) - n, "c\nd\n", 4);
	put(packed, n);
	in_open(&in, path);
	is_str(lines_of(&in), STR("a|bc|d|"), "several members are one text");
	ok(in.errors == NULL && in.nread == n, "no damage");
	in_close(&in);

	memset(packed + n, 0, 100);
	put(packed, n + 100);
	in_open(&in, path);
	ok(str_eq(lines_of(&in), STR("a|bc|d|")) && in.errors == NULL, "zero padding is no damage");
	in_close(&in);

	put(packed, n);
	memcpy(packed + n, "garbage", 7);
	put(packed, n + 7);
	in_open(&in, path);
	ok(str_eq(lines_of(&in), STR("a|bc|d|")) && in.errors != NULL,
	   "garbage behind: everything good is there, damage is told");
	in_close(&in);

	n = member(packed, sizeof(packed), "", 0);
	put(packed, n);
	in_open(&in, path);
	ok(lines_of(&in).n == 0 && in.errors == NULL, "gzip of nothing");
	in_close(&in);
}

/* Packs the text. Returns the size of the member in `packed`. */
static size_t pack_text(void)
{
	uint64_t seed = 5;

	for (size_t i = 0; i < sizeof(text); i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		text[i] = (seed >> 40) % 50 ? (char)('a' + (seed >> 50) % 26) : '\n';
	}
	return member(packed, sizeof(packed), text, sizeof(text));
}

static void gzip_in_parts(size_t n)
{
	struct in in;
	size_t m, got = 0;

	put(packed, n);
	in_open(&in, path);
	while ((m = in_read(&in, back + got, 977)) > 0)
		got += m;
	ok(got == sizeof(text) && memcmp(text, back, got) == 0 && in.errors == NULL, "gzip in pieces of odd size");
	ok(in_read(&in, back, 1) == 0, "the end stays the end");
	in_close(&in);
}

static void gzip_cut_anywhere(size_t n)
{
	struct in in;
	size_t m, got;

	for (size_t i = 2; i < n; i += i < 40 || i + 40 > n ? 1 : 9973) {
		put(packed, i);
		in_open(&in, path);
		for (got = 0; (m = in_read(&in, back + got, sizeof(back) - got)) > 0;)
			got += m;
		if (!in.errors || memcmp(text, back, got) != 0 || got > sizeof(text)) {
			ok(false, "cut gzip");
			printf("# cut at %zu of %zu: %zu bytes, damage %s\n", i, n, got,
			       in.errors ? in.errors : "none");
		}
		in_close(&in);
	}
	ok(true, "gzip cut anywhere: a good beginning, and told");

	put(packed, n / 2);
	in_open(&in, path);
	for (got = 0; (m = in_read(&in, back + got, sizeof(back) - got)) > 0;)
		got += m;
	ok(got > sizeof(text) / 3 && strstr(in.errors, "middle"), "cut in half: what was there is delivered");
	in_close(&in);
}

/* Bytes that zlib has read but not written yet belong to the good part, too. */
static void gzip_cut_small(void)
{
	struct in in;
	size_t m, k;

	m = member(back, sizeof(back), "one\ntwo\nthree\none two three\n", 28);
	for (size_t i = 10; i < m; i++) {
		char some[2][64];
		size_t n_some[2] = { 0 };

		put(back, i);
		for (int big = 0; big < 2; big++) {
			in_open(&in, path);
			while ((k = in_read(&in, some[big] + n_some[big], big ? 32 : 1)) > 0)
				n_some[big] += k;
			in_close(&in);
		}
		if (n_some[0] != n_some[1] || memcmp(some[0], some[1], n_some[0]) != 0)
			ok(false, "cut gzip: the size of reads makes no difference");
	}
	ok(true, "cut gzip: the size of reads makes no difference");
}

static void gzip_damaged(size_t n)
{
	struct in in;
	size_t m, got;

	for (size_t k = 0; k < 3; k++) {
		size_t at = k == 0 ? 3 : k == 1 ? n / 2 : n - 5; /* header, data, check sum */

		packed[at] = (char)(packed[at] ^ 0x55);
		put(packed, n);
		packed[at] = (char)(packed[at] ^ 0x55);
		in_open(&in, path);
		for (got = 0; got < sizeof(text) && (m = in_read(&in, back + got, sizeof(back) - got)) > 0;)
			got += m;
		(void)in_read(&in, back + sizeof(text), 1);
		ok(in.errors != NULL, k == 0 ? "a damaged header" :
				      k == 1 ? "damage in the middle" :
					       "a wrong check sum");
		in_close(&in);
	}
}

static void gzip(void)
{
	size_t n;

	gzip_members();
	n = pack_text();
	gzip_in_parts(n);
	gzip_cut_anywhere(n);
	gzip_cut_small();
	gzip_damaged(n);
}

/* Any place of a file, whatever was read; what is none becomes one. */
static void places(void)
{
	char pressed[256], buf[16];
	uint64_t size = 0;
	struct in in;
	size_t n;

	put("0123456789", 10);
	in_open(&in, path);
	(void)in_peek(&in, 3);
	ok(in_seekable(&in, &size) && size == 10, "a file has places");
	ok(in_pread(&in, buf, 4, 3) == 4 && memcmp(buf, "3456", 4) == 0, "in the middle");
	ok(in_pread(&in, buf, 9, 8) == 2 && memcmp(buf, "89", 2) == 0, "at the end");
	ok(in_pread(&in, buf, 9, 10) == 0 && in_pread(&in, buf, 9, UINT64_MAX - 3) == 0, "behind it");
	ok(in_read(&in, buf, 2) == 2 && memcmp(buf, "01", 2) == 0, "reading goes on where it was");
	in_close(&in);

	n = member(pressed, sizeof(pressed), "0123456789", 10);
	put(pressed, n);
	in_open(&in, path);
	ok(!in_seekable(&in, &size), "gzip has no places");
	(void)in_peek(&in, 3);
	in_spool(&in);
	ok(in_seekable(&in, &size) && size == 10 && in_pread(&in, buf, 4, 3) == 4 && memcmp(buf, "3456", 4) == 0,
	   "but a copy of it has");
	in_close(&in);
}

static void open_it(void *name)
{
	struct in in;

	in_open(&in, name);
	in_close(&in);
}

static void read_closed(void *arg)
{
	struct in in;
	struct str line;

	(void)arg;
	close(STDIN_FILENO);
	in_open(&in, "-");
	in_line(&in, &line);
}

static void refused(void)
{
	char missing[] = "/tmp/pj-no-such-file";

	child_run(&c, open_it, missing);
	ok(c.status == 1 &&
		   str_eq(c.err, STR("pjtest: cannot open '/tmp/pj-no-such-file': No such file or directory\n")),
	   "a missing file");
	child_run(&c, open_it, dir);
	ok(c.status == 1 && str_find_str(c.err, STR("it is a directory")) > 0, "a directory");
	child_run(&c, read_closed, NULL);
	ok(c.status == 1 && str_find_str(c.err, STR("standard input")) > 0, "closed standard input");
}

int main(void)
{
	diag_tool("pjtest");
	if (!mkdtemp(dir))
		abort();
	snprintf(path, sizeof(path), "%s/f", dir);
	plain();
	after();
	pipes();
	gzip();
	places();
	refused();
	unlink(path);
	rmdir(dir);
	return done();
}
