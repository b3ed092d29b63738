/* asflamegraph_test - the rules of stackcollapse-perf.pl one by one; test/fold/script/conformance.t compares with the
 * script itself. */
/* covers: fold/script/asflamegraph.c */
#include "fold/script/asflamegraph.h"

#include "test/lib/tap.h"

#include <stdlib.h>
#include <unistd.h>

static struct asflamegraph flame; /* what the last fold() counted */
static char *output;
static char path[] = "/tmp/pj-asflamegraph.XXXXXX";

static struct str content(void)
{
	FILE *f = fopen(path, "rb");
	size_t cap = (size_t)8 << 20, n;

	if (!f)
		return (struct str){ 0 };
	free(output);
	output = mem_alloc(1, cap);
	n = fread(output, 1, cap, f);
	fclose(f);
	return (struct str){ output, n };
}

static struct str fold(struct asflamegraph_options options, struct str text)
{
	static struct out o;
	struct stacks s = { 0 };
	struct place at = { "input", 0 };
	bool more = text.n > 0;

	asflamegraph_free(&flame);
	flame = (struct asflamegraph){ .options = options };
	while (more) {
		ptrdiff_t end = str_find(text, '\n');
		struct str line = end < 0 ? text : str_head(text, (size_t)end);
		char *copy = malloc(line.n ? line.n : 1); /* of its own size: reading past it is found */

		if (line.n)
			memcpy(copy, line.p, line.n);
		at.line++;
		asflamegraph_line(&flame, (struct str){ copy, line.n }, at, &s);
		free(copy);
		text = str_from(text, end < 0 ? text.n : (size_t)end + 1);
		more = text.n > 0;
	}
	asflamegraph_end(&flame, &s);
	out_open(&o, path);
	asflamegraph_write(&o, &s);
	out_close(&o);
	stacks_free(&s);
	return content();
}

#define IS(options, text, want, what) is_str(fold((struct asflamegraph_options)options, STR(text)), STR(want), what)
#define WITH(...)           \
	{                   \
		__VA_ARGS__ \
	}
#define PLAIN     \
	{         \
		0 \
	}
#define HEAD "tool 1/2 3.4: 7 cycles: \n"

static void samples(void)
{
	IS(PLAIN, "", "", "nothing gives nothing");
	IS(PLAIN, HEAD "\t1 in (/b)\n\t2 out (/b)\n\n", "tool;out;in 7\n", "outermost first, weighed by the period");
	IS(PLAIN, HEAD "\t1 in (/b)", "tool;in 7\n", "the last sample needs neither empty line nor newline");
	IS(PLAIN, HEAD "\t1 a (/b)\n\n" HEAD "\t9 a+0x8 (/b)\n\n", "tool;a 14\n", "equal stacks add up");
	IS(PLAIN, HEAD "\n", "tool 7\n", "a sample without frames is its comm");
	is_u64(flame.stackless, 1, "and counted");
	IS(PLAIN, "tool 1 3.4: 0 cycles:\n\ntool 1 3.4: cycles:\n\ntool 1 3.4:\n\n", "tool 3\n",
	   "without period, or with 0: 1");
	IS(PLAIN, "tool 1 3.4: 00 cycles:\n\n", "tool 0\n", "but 00 is a weight of its own");
	IS(PLAIN, "tool 1 3.4: 007 cycles:\n\n", "tool 7\n", "leading zeros");
	IS(WITH(.samples = true), HEAD "\n" HEAD "\n", "tool 2\n", "or every sample weighs 1");
	IS(PLAIN, HEAD "\t1 a (/b)\n \nmore 1/2 3.4: 5 cycles: \n\t2 b (/b)\n", "more;b;a 5\n",
	   "a blank line that is not empty ends nothing; the second header renames");
	is_u64(flame.unrecognized, 1, "it is a line like any odd one");
	ok(flame.first_unrecognized[0].line == 3 && !flame.first_unrecognized[1].name, "with its place");
	IS(PLAIN, "\t1 a (/b)\n\n" HEAD "# note\n\t2 b (/b)\n", "tool;b 7\n",
	   "frames before a header are ignored, comments everywhere");
	is_u64(flame.stray, 1, "and counted");
	IS(PLAIN, HEAD "\r\n\t1 a (/b)\r\n\r\n", "tool;a 7\n", "with CRLF nothing ends before the end");
	IS(PLAIN, HEAD "\t1 b (/b)\n\t2 f (/b)\n\n" HEAD "\t2 f (/b)\n\n" HEAD "\t2 f.cold (/b)\n\n",
	   "tool;f 7\ntool;f.cold 7\ntool;f;b 7\n", "whole stacks are sorted: '.' stands before ';'");
}

static void headers(void)
{
	IS(PLAIN, "two words 12 3.4: cycles:\n\n", "two_words 1\n", "blanks of the name become _");
	IS(PLAIN, "pool 3 12/13 3.4: cycles:\n\n", "pool 1\n", "the first number ends the name");
	IS(PLAIN, "t 12/13 3.4: cycles: 5 x\n\n", "t_12/13_3.4:_cycles: 1\n", "a name has two bytes or more");
	IS(PLAIN, "t  12 x\n\n", "t_ 1\n", "a blank may be the second");
	IS(PLAIN, " tool 12 3.4: cycles:\n\t1 a (/b)\n", "", "a padded header is none");
	IS(WITH(.pid = true), "tool 12/13 x\n\ntool 12 x\n\ntool 12/0 x\n\n", "tool-12 1\ntool-? 2\n", "pid");
	IS(WITH(.tid = true, .pid = true), "tool 12/13 x\n\ntool 12 x\n\ntool 12/0 x\n\ntool 0/0 x\n\n",
	   "tool-12/13 1\ntool-?/0 1\ntool-?/12 2\n", "tid wins over pid");
	IS(WITH(.tid = true), "tool 12//13 x\n\ntool 12/00 x\n\ntool 12/ x\n\n",
	   "tool-12/00 1\ntool-12/13 1\ntool-?/12 1\n", "any slashes; 00 is a number");
	IS(PLAIN, "a;b 12 x\n\t1 f (/b)\n\nab 12 x\n\t1 b (/b)\n\t2 ;c (/b)\n", "a;b;f 1\nab;:c;b 1\n",
	   "a ';' in the name separates");
	IS(PLAIN, "tool 12 x\ntool 12x \ntool 12", "tool 1\n", "a blank stands behind the numbers");
	is_u64(flame.unrecognized, 2, "else the line is odd");
}

static void events(void)
{
	static const char two[] = "tool 1 3.4: 5 a:u: \n\ntool 1 3.4: 6 a: \n\t1 f (/b)\n\ntool 1 3.4: 7 a:u:\n\n";

	IS(PLAIN, "tool 1 3.4: 5 a:u: \n\ntool 1 3.4: 6 a: \n\t1 f (/b)\n\ntool 1 3.4: 7 a:u:\n\n", "tool 12\n",
	   "the first event counts");
	is_str(flame.event, STR("a:u"), "its name is known");
	is_str(flame.skipped_event, STR("a"), "that of the other, too");
	ok(flame.skipped == 1 && flame.stray == 0 && flame.samples == 2, "and how often");
	is_str(fold((struct asflamegraph_options){ .event = STR("a") }, str_of(two)), STR("tool;f 6\n"),
	       "or the one asked for");
	is_str(fold((struct asflamegraph_options){ .event = STR("b") }, str_of(two)), STR(""), "if it is there");
	IS(PLAIN, "tool 1 3.4: 5 a:\n\t1 f (/b)\ntool 1 3.4: 6 b:\n\t1 g (/b)\n", "tool;g;f 5\n",
	   "a header of another event ends no sample");
	IS(PLAIN, "tool 1 3.4: 5 a:\n\ntool 1 3.4: 6 b: x=y\n\ntool 1 c:\n\n", "tool 7\n",
	   "lines that do not end in an event pass, with weight 1");
	IS(PLAIN, "tool 1 3.4:5 a:\n\ntool 1 3.4:  6  a: \t\n\ntool 1 : a:\n\ntool 1 3.4: x 9 b:\n\ntool 1 3.4: ::\n\n",
	   "tool 13\n", "blanks around the period");
	is_u64(flame.skipped, 1, "':' is an event");
}

static void frames(void)
{
	IS(PLAIN, HEAD "\t1 [unknown] (/lib/x.so)\n\t2 [unknown] ([unknown])\n\t3 [unknown] ([k])\n",
	   "tool;[[k]];[unknown];[x.so] 7\n", "without a symbol: the DSO");
	IS(WITH(.addrs = true), HEAD "\tfe [unknown] (/lib/x.so)\n\tfd [unknown] ([unknown])\n\t1 f (/b)\n",
	   "tool;f;[unknown <fd>];[x.so <fe>] 7\n", "and the address");
	IS(WITH(.addrs = true), HEAD "\tfe [unknown] (/x)\n\tff [unknown] (/x)\n", "tool;[x <ff>];[x <fe>] 7\n",
	   "each its own");
	IS(PLAIN,
	   HEAD "\t1 f(int) (/b)\n\t2 n::(anonymous namespace)::g(int) (/b)\n\t3 (anonymous namespace)::h (/b)\n",
	   "tool;n::(anonymous namespace)::g;f 7\n", "arguments go; what begins with '(' goes altogether");
	IS(PLAIN, HEAD "\t1 a/http.(*C).Do (/b)\n\t2 a.(b (/b)\n\t3 .(). (/b)\n\t4 a).(b (/b)\n",
	   "tool;a).;.().;a.;a/http.(*C).Do 7\n", "but not of Go's methods");
	IS(PLAIN, HEAD "\t1 a\"b'c (/b)\n\t2 \"\" (/b)\n\t3 x;y (/b)\n", "tool;x:y;;abc 7\n",
	   "quotes go, ';' becomes ':'");
	IS(PLAIN, HEAD "\t1 \"\" (/b)\n", "tool; 7\n", "an empty frame is one");
	IS(PLAIN, HEAD "\t1 f+0x1f (/b)\n\t2 g+0x (/b)\n\t3 h+0xF (/b)\n\t4 i+0x1+0x2 (/b)\n\t5 +0x1 (/b)\n",
	   "tool;i+0x1;h+0xF;g+0x;f 7\n", "offsets go");
	IS(PLAIN, HEAD "\t1 f+0x1 (/x (deleted))\n", "tool;f+0x1  7\n", "the last ' (' opens the DSO");
	IS(PLAIN, HEAD "\t1 f (/x y(z)\n\t2 g (/x) y) z\n\t3 h (/x\n\t4 i(/x)\n", "tool;g;f 7\n",
	   "the last ')' closes it");
	is_u64(flame.unrecognized, 2, "both must be there");
	IS(PLAIN, HEAD "\t78 (/x)\n\t8   (/x)\n\tz (/x)\n\t8 f ()\n\t-f (/x)\n", "tool;f; ;8 7\n",
	   "who has no symbol: the last of the address");
	is_u64(flame.unrecognized, 2, "if that leaves one");
	IS(PLAIN, HEAD "\t7f.1 f (/x)\n\t7f\xe9 (/x)\n1 f (/x)\n", "tool;f;\xe9;.1 f 7\n",
	   "the address is a word of ASCII");
}

static void parts(void)
{
	IS(PLAIN, HEAD "\t1 a->b->c (/b)\n\t2 z (/b)\n", "tool;z;a;b_[i];c_[i] 7\n", "-> separates, outermost first");
	IS(PLAIN, HEAD "\t1 ->a->->b->-> (/b)\n\t2 -> (/b)\n", "tool;;a_[i];_[i];b_[i] 7\n",
	   "empty parts, but not at the end");
	IS(WITH(.kernel = true), HEAD "\t1 a->b_[i]->[unknown] ([k])\n", "tool;a_[k];b_[i];[[k]]_[i] 7\n",
	   "suffixes once each");
	IS(WITH(.kernel = true),
	   HEAD "\t1 a ([k])\n\t2 b (/x/vmlinux)\n\t3 c (/x/vmlinux-6)\n\t4 d ([x.unknown.7])\n\t5 e ([vdso])\n",
	   "tool;e_[k];d;c;b_[k];a_[k] 7\n", "kernel");
	IS(WITH(.jit = true),
	   HEAD
	   "\t1 a (/tmp/perf-1.map)\n\t2 b_[j] (/tmp/perf-1.map)\n\t3 c (/tmp/perf-.map)\n\t4 d (x/tmp/perf-/tmp/perf-23.mapy)\n",
	   "tool;d_[j];c;b_[j];a_[j] 7\n", "jit");
	IS(WITH(.jit = true, .kernel = true), HEAD "\t1 a ([/tmp/perf-1.map)\n", "tool;a_[k] 7\n", "kernel wins");
	IS(PLAIN, HEAD "\t1 a ([k])\n\t2 b (/tmp/perf-1.map)\n", "tool;b;a 7\n", "none unless asked");
	IS(PLAIN, "java 1 3: c:\n\t1 Lo/A;::f->Lo/B;::g (/b)\n\t2 'L/x (/b)\n\t3 Lib (/b)\n\t4 LL/ (/b)\n",
	   "java;L/;Lib;/x;o/A:::f;o/B:::g_[i] 1\n", "java: a leading L goes");
	IS(PLAIN, "tool 1 3: c:\n\t1 Lo/A (/b)\n\njavac 1 3: c:\n\t1 Lo/A (/b)\n\ntool 1 3: c:\n\t1 Lo/A (/b)\n",
	   "javac;o/A 1\ntool;Lo/A 2\n", "only there, also for a line that was seen elsewhere");
}

static void sources(void)
{
	const struct asflamegraph_options on = { .srcline = true };

	is_str(fold(on, STR(HEAD "\t1 f+0x1 (/b)\n  a.c:1\n\t2 g (/b)\n  b.so[1f]\n\t3 h (/b)\n[1f]\n\n")),
	       STR("tool;h;g:b.so;f:a.c:1 7\n"), "the line behind a frame is its source");
	is_str(fold(on, STR(HEAD "\t1 [unknown] ([unknown])\n\t2 [unknown] (/x)\n  x[2]\n")),
	       STR("tool;[x]:x;[unknown] 7\n"), "but of the unknown");
	is_str(fold(on, STR(HEAD "\t1 a->b->[unknown]->c ([unknown])\n a.c:1\n b.c:2\n\n")),
	       STR("tool;a:a.c:1;b_[i]:b.c:2;[unknown]_[i];c_[i] 7\n"), "every part takes one");
	is_str(fold(on, STR(HEAD "\t1 a (/b)\n" HEAD "\t2 b (/b)\n")), STR("tool;b;a:tool 1/2 3.4: 7 cycles: 7\n"),
	       "whatever it looks like");
	is_str(fold(on, STR(HEAD "\t1 a (/b)\nx;y [[1]] ]z [\n")), STR("tool;a:x;y ] ]z [ 7\n"),
	       "brackets go; ';' separates");
	is_str(fold(on, STR(HEAD "\t1 a (/b)\n\n\n")), STR("tool;a 7\n"), "an empty one counts as one");
	is_str(fold(on, STR(HEAD "\t1 a->b (/b)")), STR("tool;a;b_[i] 7\n"), "none at the end of the input");
}

static void limits(void)
{
	IS(PLAIN, "tool 1 3: 9223372036854775807 c:\n\n", "tool 9223372036854775807\n", "63 bits");
	is_u64(flame.overflows, 0, "fit");
	IS(PLAIN, "tool 1 3: 9223372036854775808 c:\n\ntool 1 3: 5 c:\n\nmore 1 3: 99999999999999999999999 c:\n\n",
	   "tool 5\n", "more is left out");
	ok(flame.overflows == 2 && flame.first_overflow.line == 1 && flame.samples == 1, "and counted");
	IS(PLAIN, "tool 1 3: 9223372036854775807 c:\n\nmore 1 3: 1 c:\n\nless 1 3: 00 c:\n\n",
	   "less 0\ntool 9223372036854775807\n", "the total has as many");
	is_u64(flame.first_overflow.line, 3, "its place is the header's");
	IS(PLAIN, HEAD "\t1 \x01\x7f\xff\0z (/b)\n", "tool;\x01\x7f\xff\0z 7\n", "any byte may stand in a frame");
}

static void large(void)
{
	const size_t deep = 200000, wide = 300000;
	char *text = mem_alloc(1, 4 << 20), *at = text;
	size_t arrows = 0, lines = 0;
	struct str got;

	at += sprintf(at, HEAD);
	for (size_t i = 0; i < deep; i++)
		at += sprintf(at, "\t1 f (/b)\n");
	got = fold((struct asflamegraph_options){ 0 }, (struct str){ text, (size_t)(at - text) });
	is_u64(got.n, strlen("tool 7\n") + 2 * deep, "200 000 frames");

	at = text + sprintf(text, HEAD "\t1 a");
	for (size_t i = 0; i < wide; i++)
		at += sprintf(at, "->(");
	at += sprintf(at, "->b (/b)\n");
	got = fold((struct asflamegraph_options){ 0 }, (struct str){ text, (size_t)(at - text) });
	for (size_t i = 0; i + 3 < got.n; i++)
		arrows += memcmp(got.p + i, "_[i]", 4) == 0;
	is_u64(arrows, wide + 1, "300 000 parts");

	at = text;
	for (size_t i = 0; i < 20000; i++)
		at += sprintf(at, HEAD "\t%zx f%zu (/b)\n\t1 g+0x%zx (/b)\n\n", i, i, i);
	got = fold((struct asflamegraph_options){ 0 }, (struct str){ text, (size_t)(at - text) });
	for (size_t i = 0; i < got.n; i++)
		lines += got.p[i] == '\n';
	is_u64(lines, 20000, "20 000 stacks");
	is_u64(flame.keys.n, 20001, "addresses and offsets make no new names");
	free(text);
}

int main(void)
{
	int fd = mkstemp(path);

	if (fd < 0)
		return 1;
	close(fd);
	diag_tool("asflamegraph_test");
	samples();
	headers();
	events();
	frames();
	parts();
	sources();
	limits();
	large();
	asflamegraph_free(&flame);
	free(output);
	unlink(path);
	return done();
}
