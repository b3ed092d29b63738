/* diag_test - messages: one line, nothing that a terminal would obey, the right status. */
/* covers: common/diag.c */
#include "common/diag.h"

#include "test/lib/child.h"
#include "test/lib/tap.h"

#include <errno.h>

static struct child c;

static void print_plain(void *arg)
{
	(void)arg;
	warn("x is %d", 5);
	warn_at((struct place){ "in.txt", 12 }, "bad");
	warn_at((struct place){ "in.txt", 0 }, "bad");
}

static void print_text(void *text)
{
	warn("'%s'", (const char *)text);
}

static void print_long(void *arg)
{
	static char text[100000];

	(void)arg;
	memset(text, '\x01', sizeof(text) - 1);
	warn_at((struct place){ text, UINT64_MAX }, "%s", text);
}

static void cleaned(void)
{
	static const char text[] = "cleaned\n";

	if (write(STDOUT_FILENO, text, sizeof(text) - 1) < 0)
		abort();
}

static void dies(void *arg)
{
	(void)arg;
	diag_at_death(cleaned);
	die("no");
}

static void ends_1(void)
{
	cleaned();
}

static void ends_2(void)
{
	cleaned();
}

static void ends_3(void)
{
	cleaned();
}

static void ends_4(void)
{
	cleaned();
}

/* Registers the first *number of five functions, each twice. */
static void registers(void *number)
{
	static void (*const end[])(void) = { cleaned, ends_1, ends_2, ends_3, ends_4 };

	for (int i = 0; i < *(int *)number; i++) {
		diag_at_end(end[i]);
		diag_at_end(end[i]);
	}
	exit(0);
}

static void dies_at(void *arg)
{
	(void)arg;
	die_at((struct place){ "f", 3 }, "no");
}

static void dies_errno(void *arg)
{
	(void)arg;
	errno = ENOENT;
	die_errno("cannot open '%s'", "f");
}

static void dies_usage(void *arg)
{
	(void)arg;
	die_usage("unknown option '%s'", "-x");
}

static void says(const char *text, const char *want, const char *what)
{
	child_run(&c, print_text, (void *)(uintptr_t)text);
	is_str(c.err, str_of(want), what);
}

int main(void)
{
	diag_tool("pjtest");
	is_str(str_of(diag_tool_name()), STR("pjtest"), "the tool's name");

	child_run(&c, print_plain, NULL);
	is_str(c.err, STR("pjtest: x is 5\npjtest: in.txt:12: bad\npjtest: in.txt: bad\n"), "tool, place, what");
	is_u64(c.out.n, 0, "stdout is not touched");

	says("a\nb\x1b[31m\x7f", "pjtest: 'a\\x0ab\\x1b[31m\\x7f'\n", "newline, escape and delete are shown");
	says("caf\xc3\xa9 \xf0\x9f\x94\xa5", "pjtest: 'caf\xc3\xa9 \xf0\x9f\x94\xa5'\n", "UTF-8 stays");
	says("\xff\xc3(\xe2\x82", "pjtest: '\\xff\\xc3(\\xe2\\x82'\n", "what is not UTF-8 is shown");
	says("\xc2\x9b"
	     "31m",
	     "pjtest: '\\xc2\\x9b31m'\n", "C1 controls are shown (CSI in one character)");
	says("\xc0\x80\xe0\x80\x80\xed\xa0\x80\xf4\x90\x80\x80",
	     "pjtest: '\\xc0\\x80\\xe0\\x80\\x80\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80'\n",
	     "overlong forms, surrogates, beyond U+10FFFF");

	child_run(&c, print_long, NULL);
	ok(c.status == 0 && c.err.n < 4096 && c.err.p[c.err.n - 1] == '\n' &&
		   str_find(c.err, '\n') == (ptrdiff_t)c.err.n - 1,
	   "a long message is cut and stays one line");
	ok(str_find_str(c.err, STR("...")) > 0, "and says so");

	child_run(&c, dies, NULL);
	ok(c.status == PJ_FAILED, "die: status 1");
	is_str(c.err, STR("pjtest: no\n"), "die: message");
	is_str(c.out, STR("cleaned\n"), "die: cleans up");
	child_run(&c, registers, &(int){ 4 });
	ok(c.status == 0 && str_eq(c.out, STR("cleaned\ncleaned\ncleaned\ncleaned\n")),
	   "four functions run at the end, each once, although each was registered twice");
	child_run(&c, registers, &(int){ 5 });
	ok(c.status == PJ_FAILED && str_starts(c.err, STR("pjtest: more than 4 functions")), "a fifth is refused");
	child_run(&c, dies_at, NULL);
	ok(c.status == PJ_FAILED && str_eq(c.err, STR("pjtest: f:3: no\n")), "die_at");
	child_run(&c, dies_errno, NULL);
	ok(c.status == PJ_FAILED && str_eq(c.err, STR("pjtest: cannot open 'f': No such file or directory\n")),
	   "die_errno");
	child_run(&c, dies_usage, NULL);
	ok(c.status == PJ_USAGE && str_eq(c.err, STR("pjtest: unknown option '-x' (see pjtest --help)\n")),
	   "die_usage: status 2");
	return done();
}
