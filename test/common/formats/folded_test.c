/* folded_test - the text that all tools exchange. */
/* covers: common/formats/folded.c common/formats/foldedhead.c common/formats/foldedpath.c */
/* covers: common/formats/foldedread.c common/formats/foldedwrite.c */
#include "common/formats/folded.h"

#include "test/lib/child.h"
#include "test/lib/node.h"
#include "test/lib/tap.h"

#include <stdlib.h>

static char in_path[] = "/tmp/pj-folded-test.XXXXXX";
static char out_path[64];
static struct child c;
static struct out o;

static void put(struct str text)
{
	FILE *f = fopen(in_path, "wb");

	if (!f || fwrite(text.p, 1, text.n, f) != text.n || fclose(f) != 0)
		abort();
}

static struct str content(void)
{
	static char buf[8 << 20];
	FILE *f = fopen(out_path, "rb");
	size_t n = f ? fread(buf, 1, sizeof(buf), f) : 0;

	if (f)
		fclose(f);
	return (struct str){ buf, n };
}

static struct folded_tally tally;
static struct folded_header header;
static char host[20];

/* Reads text (and a second one), writes it back. */
static struct str through2(struct str text, const char *second, unsigned *columns)
{
	struct stacks s = { 0 };
	unsigned last = 1;
	struct str inputs[] = { text, str_of(second) };

	tally = (struct folded_tally){ 0 };
	header = (struct folded_header){ 0 };
	for (int i = 0; i < (second ? 2 : 1); i++) {
		struct in in;

		put(inputs[i]);
		in_open(&in, in_path);
		last = folded_read(&in, &s, &header, &tally);
		in_close(&in);
	}
	if (columns)
		*columns = last;
	out_open(&o, out_path);
	folded_write(&o, &s, last ? last : 1, header.present ? &header : NULL);
	out_close(&o);
	snprintf(host, sizeof(host), "%.*s", (int)header.host.n, header.host.p ? header.host.p : "");
	stacks_free(&s);
	return content();
}

static struct str through(const char *text, unsigned *columns)
{
	return through2(str_of(text), NULL, columns);
}

static void parses(const char *line, const char *stack, uint64_t weight, bool rounded)
{
	/* a copy of exactly this size: who reads past it is caught by AddressSanitizer */
	size_t n = strlen(line);
	char *copy = mem_alloc(1, n);
	struct str got;
	uint64_t w;
	bool r;
	const char *why;

	memcpy(copy, line, n);
	why = folded_parse((struct str){ copy, n }, &got, &w, &r);
	if (!ok(!why && str_eq(got, str_of(stack)) && w == weight && r == rounded, line))
		printf("# %s\n", why ? why : "other result");
	free(copy);
}

static void refuses(const char *line, const char *why)
{
	size_t n = strlen(line);
	char *copy = mem_alloc(1, n);
	struct str got;
	uint64_t w;
	bool r;

	memcpy(copy, line, n);
	is_str(str_of(folded_parse((struct str){ copy, n }, &got, &w, &r)), str_of(why), line);
	free(copy);
}

static void lines(void)
{
	parses("a;b;c 42", "a;b;c", 42, false);
	parses("a 0", "a", 0, false);
	parses("a 1\r", "a", 1, false);
	parses("a  \t 1 \t", "a", 1, false);
	parses("a b c 5", "a b c", 5, false);
	parses("a 1 2", "a 1", 2, false);
	parses(";; 3", ";;", 3, false);
	parses("a 9223372036854775807", "a", INT64_MAX, false);
	parses("a 00000000000000000000000000000000000000000000000000000000000000000000000001", "a", 1, false);
	parses("a 1.5", "a", 2, true);
	parses("a 0.4", "a", 0, true);
	parses("a 1e3", "a", 1000, true);
	parses("a .5", "a", 1, true);
	parses("a 2.", "a", 2, true);
	parses("\xff\x01 1", "\xff\x01", 1, false);
	refuses("", "no weight at the end of the line");
	refuses("   ", "no weight at the end of the line");
	refuses("a", "no weight at the end of the line");
	refuses("a;b", "no weight at the end of the line");
	refuses("a 1x", "no weight at the end of the line");
	refuses("a 0x10", "no weight at the end of the line");
	refuses("a nan", "no weight at the end of the line");
	refuses("a inf", "no weight at the end of the line");
	refuses("a 1.5.5", "no weight at the end of the line");
	refuses("a +", "no weight at the end of the line");
	refuses("a -1", "the weight is negative");
	refuses("a -0.5", "the weight is negative");
	refuses("a 9223372036854775808", "the weight does not fit into 63 bits");
	refuses("a 18446744073709551616", "the weight does not fit into 63 bits");
	refuses("a 99999999999999999999999999999999999999999999999999999999999999999999999999999",
		"the weight does not fit into 63 bits");
	refuses("a 1e19", "the weight does not fit into 63 bits");
	refuses("a 1e999", "the weight does not fit into 63 bits");
	refuses("5", "no stack before the weight");
	refuses(" 5", "no stack before the weight");
}

static void texts(void)
{
	unsigned columns;

	is_str(through("", &columns), STR(""), "nothing in, nothing out");
	is_u64(columns, 0, "no columns");
	is_str(through("b 1\na;c 2\na 3\nb 4\n", &columns), STR("a 3\na;c 2\nb 5\n"), "sorted, summed");
	is_u64(columns, 1, "one column");
	is_str(through("a;b 1\r\n\r\na;b 2\r\n", NULL), STR("a;b 3\n"), "CRLF, empty lines");
	is_str(through("a;b 1", NULL), STR("a;b 1\n"), "no newline at the end");
	is_str(through("foo 1\nfoo.cold 1\nfoo;x 1\n", NULL), STR("foo 1\nfoo;x 1\nfoo.cold 1\n"),
	       "siblings by bytes of frames");
	is_str(through("a;;b 1\n; 2\na; 3\n", NULL), STR("; 2\na; 3\na;;b 1\n"), "empty frames stay");
	is_str(through("a 0\n", NULL), STR(""), "a weight of zero is no stack");
	is_str(through2(STR("a;\0;b 1\n"), NULL, NULL), STR("a;\0;b 1\n"), "bytes are bytes");

	is_str(through("# comment\n#\na 1\n# x\n", NULL), STR("a 1\n"), "comments are left out");
	is_u64(tally.comments, 3, "and counted");
	is_str(through("#a 1\n", NULL), STR("#a 1\n"), "a frame may begin with #");

	through("a 1.5\nb 2\nc 0.7\n", NULL);
	ok(tally.rounded == 2 && tally.lines == 3 && tally.bad == 0, "decimals are counted");
	is_str(through("x\na 1\ny\nz\nw\n", NULL), STR("a 1\n"), "what is no stack is skipped");
	ok(tally.bad == 4 && tally.first_bad[0].line == 1 && tally.first_bad[1].line == 3 &&
		   tally.first_bad[2].line == 4,
	   "counted, with the first three places");
	is_str(str_of(tally.why[0]), STR("no weight at the end of the line"), "and why");
}

static void columns(void)
{
	unsigned n;

	is_str(through("a 1 2\nb 0 3\n", &n), STR("a 1 2\nb 0 3\n"), "two columns");
	is_u64(n, 2, "every line has two integers");
	is_str(through("a 1 2\na 1 2\na 5 1\n", &n), STR("a 7 5\n"), "are summed apart");
	is_str(through("a 1 2\nb 3\n", &n), STR("a 1 2\nb 3\n"), "one line with one: the first is part of the name");
	is_u64(n, 1, "one column");
	is_str(through("b 3\na 1 2\n", &n), STR("a 1 2\nb 3\n"), "also in the other order");
	is_str(through("a 1 2\nb 3 1.5\n", &n), STR("a 1 2\nb 3 2\n"), "a decimal is not a second column");
	is_u64(n, 1, "one column");
	is_str(through("a 1 2\nx\n# c\nb 3 4\n", &n), STR("a 1 2\nb 3 4\n"), "skipped lines do not count");
	is_u64(n, 2, "two columns");
	is_str(through("5 1\n", &n), STR("5 1\n"), "a number can be a frame");
	is_u64(n, 1, "one column");
	is_str(through("a;b 1 2\na;b 1;c 3 4\n", &n), STR("a;b 1 2\na;b 1;c 3 4\n"),
	       "a frame that ends in a number, with callees");
	is_u64(n, 2, "two columns");
	is_str(through("a 9223372036854775807 1\nb 0 9223372036854775806\n", &n),
	       STR("a 9223372036854775807 1\nb 0 9223372036854775806\n"), "both columns up to 2^63-1");
	is_str(through2(STR("a 1 2\n"), "a 10 20\nb 1 0\n", &n), STR("a 11 22\nb 1 0\n"), "two files of two columns");
}

static void read_heavy(void *text)
{
	through(text, NULL);
}

static void overflow(void)
{
	child_run(&c, read_heavy, (void *)(uintptr_t) "a 9223372036854775807\nb 1\n");
	ok(c.status == 1 && str_find_str(c.err, STR(":2: the sum of all weights does not fit into 63 bits")) > 0,
	   "a sum past 2^63 ends with its place");
	child_run(&c, read_heavy, (void *)(uintptr_t) "a 9223372036854775807 1\na 9223372036854775807 1\n");
	ok(c.status == 1 && str_find_str(c.err, STR("does not fit into 63 bits")) > 0,
	   "in the first of two columns, too");
	child_run(&c, read_heavy,
		  (void *)(uintptr_t) "a 4000000000000000000 1\nb 4000000000000000000 1\nc 4000000000000000000 1\n");
	ok(c.status == 1 && str_find_str(c.err, STR("does not fit into 63 bits")) > 0, "summed over stacks");
}

static void headers(void)
{
	struct folded_header h = { 0 };
	struct stacks s = { 0 };

	is_str(through("# pj unit=samples event=cycles:P host=a%20b samples=5 lost=1\na 5\n", NULL),
	       STR("# pj unit=samples event=cycles:P host=a%20b samples=5 lost=1\na 5\n"), "a header goes through");
	is_str(str_of(host), STR("a b"), "%20 is a blank");
	is_str(through2(STR("# pj unit=samples event=x from=1.5 to=9.0 samples=5 lost=1\na 5\n"),
			"# pj unit=samples event=y from=10.5 to=19.0 samples=6 lost=2\na 6\n", NULL),
	       STR("# pj unit=samples event=x+y from=1.5 to=19.0 samples=11 lost=3\na 11\n"),
	       "two headers: sums, the whole time, both events");
	is_str(through2(STR("# pj unit=samples from=10.5 to=10.75\na 5\n"),
			"# pj unit=samples from=9.250000000 to=9.500000000\na 6\n", NULL),
	       STR("# pj unit=samples from=9.250000000 to=10.75\na 11\n"), "times with other numbers of decimals");
	is_str(through("# pj unit=samples unknown=1 samples=x bare\na 1\n", NULL), STR("# pj unit=samples\na 1\n"),
	       "what is not known is passed over");
	is_str(through("# pj event=%zz%4\na 1\n", NULL), STR("# pj event=%25zz%254\na 1\n"),
	       "broken escapes stay as they are");
	is_str(through("# pj\na 1\n", NULL), STR("# pj\na 1\n"), "a header that says nothing is one");
	ok(header.present && tally.headerless == 0, "and is taken for one");
	is_str(through2(STR("# pj samples=5\na 5\n"), "# pj unit=samples\na 6\n", NULL),
	       STR("# pj unit=samples\na 11\n"), "a sum of samples that one header does not tell is not known");
	is_str(through2(STR("# pj samples=5 lost=1\na 5\n"), "# pj unit=samples samples=6\na 6\n", NULL),
	       STR("# pj unit=samples samples=11\na 11\n"), "losses that the second header lacks are unknown");
	is_str(through2(STR("# pj samples=5\na 5\n"), "# pj unit=samples samples=6 lost=1\na 6\n", NULL),
	       STR("# pj unit=samples samples=11\na 11\n"), "  and those that the first header lacks");
	child_run(&c, read_heavy, (void *)(uintptr_t) "# pj unit=samples\n# pj unit=ns\na 1\n");
	ok(c.status == 1 && str_find_str(c.err, STR("unit 'ns' cannot be added to 'samples'")) > 0,
	   "unlike units are refused");

	h = (struct folded_header){ .unit = STR("n s\n%"), .labels = STR("a=b,c=\xc3\xa9"), .present = true };
	out_open(&o, out_path);
	folded_write(&o, &s, 1, &h);
	out_close(&o);
	is_str(content(), STR("# pj unit=n%20s%0A%25 samples=0 labels=a=b,c=\xc3\xa9\n"),
	       "no value can break the line");
	stacks_free(&s);
}

/* What pjdiff adds to a header, and lines behind it. */
static void rules(void)
{
	static const char text[] =
		"# pj unit=samples samples=0 windows=8,7 dispersion=1.40 drift=0.080 z=2 points=0.5 relative=0.01\n"
		"# dispersion 4.20 a;b\n# dispersion 1.00 a;b;c d\na;b 1 2\na;b;c d 1 2\na;b;c d;e 0 3\nx 0 1\n";
	struct stacks s = { 0 };
	struct folded_header h = { 0 };
	struct folded_tally t = { 0 };
	struct in in;
	float *d;

	is_str(through(text, NULL), str_of(text), "the rule and dispersions go through");
	ok(header.windows[0] == 8 && header.windows[1] == 7 && header.dispersion == 1.4 && header.drift == 0.08 &&
		   header.has_rule && header.z == 2 && header.points == 0.5 && header.relative == 0.01,
	   "and are read");
	put(str_of(text));
	in_open(&in, in_path);
	folded_read(&in, &s, &h, &t);
	in_close(&in);
	d = folded_dispersion(&h, &s);
	ok(d[0] == 1.4F && d[node_of(&s, STR("a"))] == 1.4F && d[node_of(&s, STR("a;b"))] == 4.2F &&
		   d[node_of(&s, STR("a;b;c d"))] == 1 && d[node_of(&s, STR("a;b;c d;e"))] == 1 &&
		   d[node_of(&s, STR("x"))] == 1.4F,
	   "callees inherit dispersions");
	free(d);
	h = (struct folded_header){ 0 };
	ok(folded_dispersion(&h, &s) == NULL, "none is known");
	h = (struct folded_header){ .noise = &(struct folded_noise){ UINT32_MAX, 3 }, .nnoise = 1 };
	d = folded_dispersion(&h, &s);
	ok(d && d[1] == 1, "a node that is none");
	free(d);
	stacks_free(&s);
	is_str(through("# pj windows=0,5 dispersion=0.5 drift=nan z=-1 points=1e99 relative=2\n# dispersion\n# dispersion 0 a\n"
		       "# dispersion nan a\n# dispersion 1e300 a\n# dispersion -4 a\n# dispersion 3 \n# dispersion 3 b\n# dispersion 0x5 a\n"
		       "# dispersion 2 a;b\na 1 2\n",
		       NULL),
	       STR("# pj\na 1 2\n"), "what can not be is passed over");
	is_u64(tally.comments, 10, "and counted with the comments");
	is_str(through("# pj samples=0 dispersion=2.00\n# dispersion 3.00 a\na 1\n", NULL),
	       STR("# pj samples=0 dispersion=2.00\na 1\n"), "one column has no changes");
	is_str(through("a 1 2\n# dispersion 3.00 a\n# pj drift=.5 z=0\n", NULL),
	       STR("# pj z=0 points=0 relative=0\n# dispersion 3.00 a\na 1 2\n"), "behind the stacks, too");
}

/* A stack that shares a beginning with the one before takes its path: every kind of border. */
static void prefixes(void)
{
	static const char text[] =
		"aaaa;bbbb 1\naaaa;bbbbb 1\naaaa;bbb 1\naaaa 1\naaaaa 1\naaaa;bbbb;c 1\naaaa;bbbb;c;d;e 1\naaaa;bbbb 1\n"
		"a 1\naaaa;bbbb;x;d;e 1\n";
	char line[1000], want[2100];

	is_str(through(text, NULL),
	       STR("a 1\naaaa 1\naaaa;bbb 1\naaaa;bbbb 2\naaaa;bbbb;c 1\naaaa;bbbb;c;d;e 1\naaaa;bbbb;x;d;e 1\naaaa;bbbbb 1\naaaaa 1\n"),
	       "borders within and between frames");
	/* differences at every place around 64 bytes, where the comparison changes its step */
	for (int at = 60; at < 70; at++) {
		char first[101], second[101];

		memset(first, 'x', 100);
		first[100] = 0;
		for (int i = 9; i < 100; i += 10)
			first[i] = ';';
		memcpy(second, first, sizeof(second));
		second[at] = second[at] == ';' ? 'y' : ';';
		snprintf(line, sizeof(line), "%s 1\n%s 2\n", first, second);
		snprintf(want, sizeof(want), "%s 2\n%s 1\n", second, first);
		is_str(through(line, NULL), str_of(second[at] == 'y' ? line : want),
		       second[at] == 'y' ? "a border that goes, at the step's end" : "a new border there");
	}
}

static void large(void)
{
	size_t frames = 2000000, n = 0;
	char *text = mem_alloc(1, frames * 4);
	struct str got;

	for (size_t i = 0; i < frames; i++) {
		text[n++] = (char)('a' + i % 26);
		text[n++] = ';';
	}
	memcpy(text + n - 1, " 1\n", 3);
	n += 2;
	got = through2((struct str){ text, n }, NULL, NULL);
	ok(got.n == n && memcmp(got.p, text, n) == 0, "a stack of 2 million frames comes out as it went in");

	memset(text, 'n', 64 * 1024);
	memcpy(text + 64 * 1024, ";x 7\n", 5);
	got = through2((struct str){ text, 64 * 1024 + 5 }, NULL, NULL);
	ok(got.n == 64 * 1024 + 5 && memcmp(got.p, text, got.n) == 0, "so does a name of 64 kB");
	free(text);
}

static void fp(void)
{
	is_str(folded_plain(STR("f_[k]")), STR("f"), "bare: kernel");
	is_str(folded_plain(STR("f_[j]")), STR("f"), "bare: compiled");
	is_str(folded_plain(STR("f_[0]")), STR("f"), "bare: interpreted");
	is_str(folded_plain(STR("f_[x]")), STR("f_[x]"), "bare: not a kind");
	is_str(folded_plain(STR("f_[kk]")), STR("f_[kk]"), "bare: nor this");
	is_str(folded_plain(STR("_[k]")), STR("_[k]"), "bare: a suffix without a name is a name");
	is_str(folded_plain(STR("f_[k]_[k]")), STR("f_[k]"), "bare: one only");
	is_str(folded_plain(STR("")), STR(""), "bare: empty");
	is_str(folded_plain(STR("[k]")), STR("[k]"), "bare: short");
}

static int line_cmp(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* n lines of few frames, that begin alike; sorted but for a few, in the order of their bytes or, with ';' least, in
 * ours. */
static void random_lines(char line[][32], int n, uint64_t *seed, bool ours)
{
	static const char *const frames[] = { "a", "a.b", "a-", "aa", "b", "" };

	for (int i = 0; i < n; i++) {
		*line[i] = 0;
		for (int depth = 0, max = (int)(*seed >> 40) % 5; depth <= max; depth++) {
			*seed = *seed * 6364136223846793005u + 1442695040888963407u;
			strcat(line[i], frames[(*seed >> 33) % 6]);
			strcat(line[i], depth < max ? ours ? "\1" : ";" : "");
		}
	}
	qsort(line, (size_t)n, sizeof(*line), line_cmp);
	for (int i = 0; i < n; i++)
		for (char *p = line[i]; *p; p++)
			*p = *p == 1 ? ';' : *p;
	if (*seed >> 62 == 0)
		memcpy(line[(*seed >> 33) % (unsigned)n], line[(*seed >> 43) % (unsigned)n], sizeof(*line));
}

/* What is read in order, nearly so, or into a tree that is there, is what every line looked up alone gives. */
static void orders(void)
{
	static const char *const between[16] = { "# x\n", "a;b\n", "\n", "b;a;c x\n" };
	static char line[24][32], text[2048];
	uint64_t seed = 1;
	bool same = true;

	for (int round = 0; round < 400 && same; round++) {
		struct stacks s[2] = { 0 };
		struct str written;
		char *before;

		for (int file = 0; file < 1 + round % 3; file++) {
			struct in in;

			random_lines(line, 24, &seed, round & 4);
			*text = 0;
			for (int i = 0; i < 24; i++) {
				if (!*line[i])
					continue;
				snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s %d\n%s", line[i], i,
					 between[(seed >> i) % 16] ? between[(seed >> i) % 16] : "");
				stacks_add(&s[0], node_of(&s[0], str_of(line[i])), 0, (uint64_t)i);
			}
			put(str_of(text));
			in_open(&in, in_path);
			folded_read(&in, &s[1], &header, &tally);
			in_close(&in);
		}
		out_open(&o, out_path);
		folded_write(&o, &s[0], 1, NULL);
		out_close(&o);
		written = content();
		before = strndup(written.p, written.n);
		out_open(&o, out_path);
		folded_write(&o, &s[1], 1, NULL);
		out_close(&o);
		same = s[0].n == s[1].n && str_eq(str_of(before), content());
		free(before);
		stacks_free(&s[0]);
		stacks_free(&s[1]);
	}
	ok(same, "in order or not, the same tree");
}

int main(void)
{
	int fd = mkstemp(in_path);

	diag_tool("pjtest");
	if (fd < 0)
		abort();
	close(fd);
	snprintf(out_path, sizeof(out_path), "%s.out", in_path);
	lines();
	texts();
	columns();
	overflow();
	headers();
	rules();
	prefixes();
	large();
	orders();
	fp();
	unlink(in_path);
	unlink(out_path);
	return done();
}
