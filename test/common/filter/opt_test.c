/* opt_test - the command line. */
/* covers: common/filter/opt.c common/filter/features.c */
#include "common/filter/opt.h"

#include "test/lib/child.h"
#include "test/lib/tap.h"

#include <stdlib.h>
#include <zlib.h>

static struct child c;
static bool flag, noflag;
static const char *text;
static uint64_t number;
static double decimal;
static unsigned calls;

static void called(void *to, const char *value, const char *name)
{
	++*(unsigned *)to;
	printf("%s=%s\n", name, value ? value : "(none)");
}

static const struct opt opts[] = {
	OPT_GROUP("Values"),
	{ 'f', "flag", NULL, OPT_FLAG, &flag, NULL, "sets a flag" },
	{ 'F', "no-flag", NULL, OPT_NOFLAG, &noflag, NULL, "clears a flag" },
	{ 'o', "output", "FILE", OPT_STR, &text, NULL, "where to" },
	{ 'n', "number", "N", OPT_U64, &number, NULL, "a whole number" },
	{ 0, "decimal", "X", OPT_DOUBLE, &decimal, NULL, "a number" },
	{ 0, "time", "SECONDS", OPT_SECONDS, &decimal, NULL, "a time" },
	{ 0, "call", "WHAT", OPT_CALL, &calls, called, "calls" },
	OPT_GROUP("Calls and a letter"),
	{ 'c', "call-flag", NULL, OPT_CALL_FLAG, &calls, called, "calls, too" },
	{ 0, "alias", "FILE", OPT_STR, &text, NULL, NULL },
	{ 0, "choice", "on|off", OPT_STR, &text, NULL, NULL },
	{ 'x', NULL, NULL, OPT_FLAG, &flag, NULL, "a letter only" },
	{ 0, "an-option-with-a-very-long-name", "VALUE", OPT_STR, &text, NULL, "goes on in the next line" },
};
static struct tool tool = {
	"pjtest", "test the options", "[options] [file ...]", "  pjtest -f x", opts, countof(opts), false, NULL, NULL,
	NULL,     LIBRARY_ZLIB
};

/* Parses the words of a line and prints what came of it. */
static void parse(void *line)
{
	static char copy[1000];
	char *argv[20] = { copy };
	int argc = 1;
	char **operand;

	flag = false;
	noflag = true;
	text = "";
	number = calls = 0;
	decimal = 0;
	snprintf(copy, sizeof(copy), "pjtest %s", (const char *)line);
	strtok(copy, " ");
	while (argc < (int)countof(argv) && (argv[argc] = strtok(NULL, " ")))
		argc++;
	operand = opt_parse(&tool, argc, argv);
	printf("flag=%d noflag=%d text=%s number=%" PRIu64 " decimal=%g", flag, noflag, text, number, decimal);
	for (; *operand; operand++)
		printf(" [%s]", *operand);
}

static void gives(const char *line, const char *want)
{
	child_run(&c, parse, (void *)(uintptr_t)line);
	is_str(c.out, str_of(want), line);
	ok(c.status == 0 && c.err.n == 0, "without complaint");
}

static void takes(const char *value, double points, double relative)
{
	double p = 7, r = .25;

	opt_min_delta(value, "--x", &p, &r);
	ok(p == points && r == relative, value);
}

static void min_delta(void *value)
{
	double p, r = 0;

	opt_min_delta(value, "--x", &p, &r);
}

static void choose(void *value)
{
	printf("%zu", opt_choice(value, "--by", "process|container|pod"));
}

static void chooses(const char *value, const char *out, const char *err)
{
	child_run(&c, choose, (void *)(uintptr_t)value);
	is_str(c.out, str_of(out), value);
	is_str(c.err, str_of(err), "  and its message");
}

static void choices(void)
{
	chooses("process", "0", "");
	chooses("pod", "2", "");
	chooses("contaner", "",
		"pjtest: --by: 'contaner' is not one of process, container, pod: did you mean container? "
		"(see pjtest --help)\n");
	chooses("host", "", "pjtest: --by: 'host' is not one of process, container, pod (see pjtest --help)\n");
	chooses("", "", "pjtest: --by: '' is not one of process, container, pod (see pjtest --help)\n");
	chooses("process|container", "",
		"pjtest: --by: 'process|container' is not one of process, container, pod (see pjtest --help)\n");
}

static void print_words(struct out *out, const char *option)
{
	out_printf(out, "%s 1\n%s 2\n", option, option);
}

static void number_of_limits(void)
{
	static const char *const wrong[] = { "",   "x",   "-1",    "+1",    "101", "1e3", "nan", "inf", "0x1",  "0X1",
					     "1,", "1,x", "1,101", "1,1,1", "1%%", "1 ",  " 1",  ".",   "1,-1", "1;1" };
	const char *rest = "12%,x";
	double value = 7;

	takes("0", 0, .25);
	takes("0.5", .5, .25);
	takes("0.5%", .5, .25);
	takes("1,2", 1, .02);
	takes("1%,2%", 1, .02);
	takes(".5,0", .5, 0);
	takes("100,100%", 100, 1);
	for (size_t i = 0; i < countof(wrong); i++) {
		child_run(&c, min_delta, (void *)(uintptr_t)wrong[i]);
		ok(c.status == 2 && str_find_str(c.err, STR("is not POINTS or POINTS,REL%: 0.5,1% is the default")) > 0,
		   wrong[i]);
	}
	ok(opt_number(&rest, 12, &value) && value == 12 && str_eq(str_of(rest), STR(",x")),
	   "a number, and what is behind it");
	ok(!opt_number(&rest, 12, &value) && value == 12 && *rest == ',', "no number: nothing changes");
}

static void print_duration_of(void *value)
{
	printf("%llu", (unsigned long long)opt_duration(value, "-s", SECOND_NS / 100, 86400 * SECOND_NS));
}

static void lasts(const char *value, uint64_t ns)
{
	char want[32];

	child_run(&c, print_duration_of, (void *)(uintptr_t)value);
	snprintf(want, sizeof(want), "%" PRIu64, ns);
	is_str(c.out, str_of(want), value);
}

static void durations(void)
{
	static const char *const wrong[] = { "",
					     "x",
					     "-1",
					     "+1",
					     "1e3",
					     "nan",
					     "inf",
					     "0x1",
					     "1,5",
					     "1 ",
					     " 1",
					     ".",
					     "s",
					     "1.5x",
					     "1:0",
					     "1..",
					     "1.s5",
					     "1sm",
					     "1%",
					     "1.-",
					     "1m5",
					     "18446744073709551616",
					     "213503982334601d" };
	uint64_t ns = 7;

	lasts("1", SECOND_NS);
	lasts("1.5", 1500000000);
	lasts(".5", 500000000);
	lasts("2.", 2 * SECOND_NS);
	lasts("0.01", 10000000);
	lasts("030", 30 * SECOND_NS);
	lasts("200ms", 200000000);
	lasts("20000us", 20000000);
	lasts("0.5m", 30 * SECOND_NS);
	lasts("1.5h", 5400 * SECOND_NS);
	lasts("1d", 86400 * SECOND_NS);
	lasts("1.0000000019999", 1000000001);
	for (size_t i = 0; i < countof(wrong); i++) {
		child_run(&c, print_duration_of, (void *)(uintptr_t)wrong[i]);
		ok(c.status == 2 && str_find_str(c.err, STR("is not a time such as 10, 1.5, 200ms, 5m or 36h")) > 0,
		   wrong[i]);
	}
	child_run(&c, print_duration_of, (void *)(uintptr_t) "0.009");
	is_str(c.err, STR("pjtest: -s: '0.009' is not a time from 10ms to 1d (see pjtest --help)\n"), "too short");
	child_run(&c, print_duration_of, (void *)(uintptr_t) "86401");
	is_str(c.err, STR("pjtest: -s: '86401' is not a time from 10ms to 1d (see pjtest --help)\n"), "too long");
	ok(!opt_is_duration(STR("1x"), &ns) && ns == 7, "no time: nothing changes");
	ok(opt_is_duration(STR("0"), &ns) && ns == 0, "zero is a time");
}

static void refuses(const char *line, const char *why)
{
	char want[200];

	child_run(&c, parse, (void *)(uintptr_t)line);
	snprintf(want, sizeof(want), "pjtest: %s (see pjtest --help)\n", why);
	is_str(c.err, str_of(want), line);
	ok(c.status == PJ_USAGE && c.out.n == 0, "status 2, nothing on stdout");
}

static size_t command;

static bool is_word(const char *operand)
{
	return operand[0] > '9';
}

static void values(void)
{
	child_run(&c, parse, (void *)(uintptr_t) "--values=choice --unknown");
	ok(c.status == 0 && str_eq(c.out, STR("on\noff\n")), "--values: the choices");
	child_run(&c, parse, (void *)(uintptr_t) "--values=output");
	ok(c.status == 0 && c.out.n == 0, "--values of an option without words");
	tool.print_values = print_words;
	child_run(&c, parse, (void *)(uintptr_t) "--values=output");
	ok(c.status == 0 && str_eq(c.out, STR("output 1\noutput 2\n")), "--values: the words of the tool");
	tool.print_values = NULL;
	refuses("--values=other", "--values=other: there is no option --other");
	refuses("--values", "unknown option '--values'");
}

/* --version names each library of the tool, with its version or with what its absence costs. */
static void version(void)
{
	static const char *const names[] = { "zlib", "libzstd", "liblzma", "libdw", "libcurl", "jansson" };
	struct str line, rest;

	tool.libraries = 63;
	child_run(&c, parse, (void *)(uintptr_t) "--version");
	rest = c.out;
	str_cut(&rest, '\n');
	line = str_cut(&rest, '\n');
	for (size_t i = 0; i < countof(names); i++) {
		char without[32];

		snprintf(without, sizeof(without), "without %s: no ", names[i]);
		ok((str_find_str(line, str_of(names[i])) >= 0) != (str_find_str(rest, str_of(without)) >= 0), names[i]);
	}
	ok(str_find_str(rest, STR("C library: ")) >= 0, "--version: the C library");
	tool.libraries = LIBRARY_ZLIB;
}

/* A tool that runs a command. */
static void commands(void)
{
	static char *line[] = { "pjtest", "-f", "make", "-x", "--", "y", NULL };
	char **operand;

	tool.command = &command;
	tool.starts_command = is_word;
	tool.single_dash_long = false;
	gives("-f make -x -- y", "flag=1 noflag=1 text= number=0 decimal=0 [make] [-x] [--] [y]");
	gives("5 -f make", "flag=1 noflag=1 text= number=0 decimal=0 [5] [make]");
	gives("5 -- -f", "flag=0 noflag=1 text= number=0 decimal=0 [5] [-f]");
	refuses("-f --", "-- needs a command after it");
	operand = opt_parse(&tool, 6, line);
	ok(command == 4 && strcmp(operand[0], "make") == 0 && strcmp(operand[3], "y") == 0, "the words of a command");
}

static void accepted(void)
{
	gives("", "flag=0 noflag=1 text= number=0 decimal=0");
	gives("-f a -F b", "flag=1 noflag=0 text= number=0 decimal=0 [a] [b]");
	gives("--flag --no-flag", "flag=1 noflag=0 text= number=0 decimal=0");
	gives("-fFo out a", "flag=1 noflag=0 text=out number=0 decimal=0 [a]");
	gives("-oout -n5", "flag=0 noflag=1 text=out number=5 decimal=0");
	gives("-o=out", "flag=0 noflag=1 text==out number=0 decimal=0");
	gives("--output=a=b --number 7", "flag=0 noflag=1 text=a=b number=7 decimal=0");
	gives("--output= x", "flag=0 noflag=1 text= number=0 decimal=0 [x]");
	gives("-o -f", "flag=0 noflag=1 text=-f number=0 decimal=0");
	gives("--output --", "flag=0 noflag=1 text=-- number=0 decimal=0");
	gives("-o a -o b", "flag=0 noflag=1 text=b number=0 decimal=0");
	gives("a -- -f --flag --", "flag=0 noflag=1 text= number=0 decimal=0 [a] [-f] [--flag] [--]");
	gives("- -f -", "flag=1 noflag=1 text= number=0 decimal=0 [-] [-]");
	gives("-n 18446744073709551615 --decimal 1.5e3",
	      "flag=0 noflag=1 text= number=18446744073709551615 decimal=1500");
	gives("--alias z", "flag=0 noflag=1 text=z number=0 decimal=0");
	gives("-x", "flag=1 noflag=1 text= number=0 decimal=0");
	gives("--call v -c --call-flag --call=w",
	      "--call=v\n-c=(none)\n--call-flag=(none)\n--call=w\nflag=0 noflag=1 text= number=0 decimal=0");
}

static void refused(void)
{
	refuses("--unknown", "unknown option '--unknown'");
	refuses("-q", "unknown option '-q'");
	refuses("-fq", "unknown option '-q' in '-fq'");
	refuses("--fla", "unknown option '--fla': did you mean --flag?");
	refuses("--falg", "unknown option '--falg': did you mean --flag?");
	refuses("--nunber=5", "unknown option '--nunber': did you mean --number?");
	refuses("--out x", "unknown option '--out': did you mean --output?");
	refuses("--alia z", "unknown option '--alia'");
	refuses("--Flag", "unknown option '--Flag': did you mean --flag?");
	refuses("--a-very-long-name-that-no-option-is-like-at-all",
		"unknown option '--a-very-long-name-that-no-option-is-like-at-all'");
	refuses("--flag=1", "option '--flag' takes no value");
	refuses("--output", "option '--output' needs a value: --output=FILE");
	refuses("-o", "option '-o' needs a value: -o FILE");
	refuses("-n x", "-n: 'x' is not a whole number");
	refuses("--number=-1", "--number: '-1' is not a whole number");
	refuses("--number=18446744073709551616", "--number: '18446744073709551616' is not a whole number");
	refuses("--number=", "--number: '' is not a whole number");
	gives("--time=1.5m", "flag=0 noflag=1 text= number=0 decimal=90");
	refuses("--time=36501d", "--time: '36501d' is not a time from 0 to 36500d");
	refuses("--decimal=nan", "--decimal: 'nan' is not a number");
	refuses("--decimal=inf", "--decimal: 'inf' is not a number");
	refuses("--decimal=1e999", "--decimal: '1e999' is not a number");
	refuses("--decimal=-1", "--decimal: '-1' is negative: it must be 0 or more");
	refuses("--decimal=0x10", "--decimal: '0x10' is not a number");
	refuses("--decimal=1x", "--decimal: '1x' is not a number");
	refuses("-title", "unknown option '-t' in '-title'");
	refuses("--help=x", "option '--help' takes no value");
}

static void help(void)
{
	child_run(&c, parse, (void *)(uintptr_t) "--help");
	ok(c.status == 0 && c.err.n == 0, "--help goes to stdout, status 0");
	is_str(c.out,
	       STR("pjtest - test the options\nusage: pjtest [options] [file ...]\n\n"
		   "Values:\n"
		   "  -f, --flag                 sets a flag\n"
		   "  -F, --no-flag              clears a flag\n"
		   "  -o, --output=FILE          where to\n"
		   "  -n, --number=N             a whole number\n"
		   "      --decimal=X            a number\n"
		   "      --time=SECONDS         a time\n"
		   "      --call=WHAT            calls\n"
		   "\nCalls and a letter:\n"
		   "  -c, --call-flag            calls, too\n"
		   "  -x                         a letter only\n"
		   "      --an-option-with-a-very-long-name=VALUE\n"
		   "                             goes on in the next line\n"
		   "\n      --help                 show this\n"
		   "      --version              show the version\n"
		   "\n  pjtest -f x\n\nMore: man pjtest, man pj\n"),
	       "--help");
	child_run(&c, parse, (void *)(uintptr_t) "-h --unknown");
	ok(c.status == 0 && str_starts(c.out, STR("pjtest - ")), "-h");
	child_run(&c, parse, (void *)(uintptr_t) "--version");
	ok(c.status == 0 && str_starts(c.out, STR("pjtest (pj) " PJ_VERSION "\nlibraries: zlib " ZLIB_VERSION "\n")),
	   "--version");
	version();
}

static void single_dash(void)
{
	tool.single_dash_long = true;
	gives("-output x -number=5 -f", "flag=1 noflag=1 text=x number=5 decimal=0");
	gives("-oout", "flag=0 noflag=1 text=out number=0 decimal=0");
	child_run(&c, parse, (void *)(uintptr_t) "-help");
	ok(c.status == 0 && str_starts(c.out, STR("pjtest - ")), "-help");
}

/* A table of two groups has the rows of both, in order. */
static void grouped_table(void)
{
	const struct opt first[] = { OPT_GROUP("One"), { 'a', NULL, NULL, OPT_FLAG, NULL, NULL, "a" } };
	const struct opt second[] = { { 'b', NULL, NULL, OPT_FLAG, NULL, NULL, "b" } };
	struct opt_table table = { 0 };

	opt_table_add(&table, first, countof(first));
	opt_table_add(&table, second, countof(second));
	ok(table.n == 3 && strcmp(table.opt[0].help, "One") == 0 && table.opt[1].letter == 'a' &&
		   table.opt[2].letter == 'b',
	   "a table by groups");
	free(table.opt);
}

int main(void)
{
	diag_tool("pjtest");
	accepted();
	refused();
	help();
	single_dash();
	grouped_table();
	number_of_limits();
	durations();
	choices();
	values();
	commands();
	return done();
}
