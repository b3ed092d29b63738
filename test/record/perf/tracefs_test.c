/* Tracepoints by name, from a tracefs of our own making, and the section that perf reads. */
/* covers: record/perf/tracefs.c */
#include "record/perf/tracefs.h"
#include "test/lib/tap.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[] = "/tmp/pj-tracefs.XXXXXX";

static void make_dir(const char *path)
{
	char full[512];

	snprintf(full, sizeof(full), "%s/%s", dir, path);
	if (mkdir(full, 0700))
		abort();
}

static void make_file(const char *path, const char *text)
{
	char full[512];
	FILE *f;

	snprintf(full, sizeof(full), "%s/%s", dir, path);
	f = fopen(full, "w");
	if (!f || fputs(text, f) < 0 || fclose(f))
		abort();
}

static void make_tracepoint(const char *system, const char *name, unsigned id)
{
	char path[256], text[256];

	snprintf(path, sizeof(path), "events/%s/%s", system, name);
	make_dir(path);
	snprintf(path, sizeof(path), "events/%s/%s/id", system, name);
	snprintf(text, sizeof(text), "%u\n", id);
	make_file(path, text);
	snprintf(path, sizeof(path), "events/%s/%s/format", system, name);
	snprintf(text, sizeof(text), "name: %s\n", name);
	make_file(path, text);
}

static void make_all(void)
{
	if (!mkdtemp(dir))
		abort();
	make_dir("events");
	make_file("events/enable", "0\n");
	make_file("events/header_page", "page\n");
	make_file("events/header_event", "event\n");
	make_dir("events/sched");
	make_file("events/sched/filter", "none\n");
	make_tracepoint("sched", "sched_switch", 372);
	make_tracepoint("sched", "sched_wakeup", 374);
	make_tracepoint("sched", "sched_waking", 375);
	make_dir("events/block");
	make_tracepoint("block", "block_rq_issue", 1200);
	make_dir("events/ftrace");
	make_tracepoint("ftrace", "print", 5);
	make_dir("events/odd");
	make_dir("events/odd/no_id");
	make_dir("events/odd/bad_id");
	make_file("events/odd/bad_id/id", "x\n");
	make_file("printk_formats", "0x1 : \"%d\"\n");
}

static void clean(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	if (system(command))
		abort();
}

/* "sched:sched_switch=372 ..." of what a pattern stands for; "!" and errno's name where it stands for nothing. */
static struct str found(const char *pattern)
{
	static struct text t;
	struct tracepoint *tp = NULL;
	size_t n = 0;

	t.n = 0;
	if (!tracefs_find(dir, str_of(pattern), &tp, &n))
		text_printf(&t, "!%s", errno == ENOENT ? "ENOENT" : errno == EINVAL ? "EINVAL" : "?");
	for (size_t i = 0; i < n; i++)
		text_printf(&t, "%s%s=%ju", i ? " " : "", tp[i].name, (uintmax_t)tp[i].id);
	tracefs_free(tp, n);
	return text_view(&t);
}

static void check_find(void)
{
	is_str(found("sched:sched_switch"), STR("sched:sched_switch=372"), "a name");
	is_str(found("sched:*"), STR("sched:sched_switch=372 sched:sched_wakeup=374 sched:sched_waking=375"),
	       "a pattern, sorted");
	is_str(found("*:*_wak*"), STR("sched:sched_wakeup=374 sched:sched_waking=375"), "two patterns");
	is_str(found("[bf]*:*"), STR("block:block_rq_issue=1200 ftrace:print=5"), "systems");
	is_str(found("odd:*"), STR("!ENOENT"), "what has no number is none");
	is_str(found("odd:bad_id"), STR("!EINVAL"), "a number that is none");
	is_str(found("sched:nothing"), STR("!ENOENT"), "unknown");
	is_str(found("sched:"), STR("!ENOENT"), "no name");
	is_str(found(":x"), STR("!ENOENT"), "no system");
	is_str(found("sched:../block/block_rq_issue"), STR("!ENOENT"), "no way out of the folder");
	is_str(found("..:events"), STR("!ENOENT"), "nor up");
	is_str(found("enable:*"), STR("!ENOENT"), "a file is no system");
}

static struct str nearest(const char *name)
{
	static struct text t;

	t.n = 0;
	tracefs_nearest(dir, str_of(name), &t);
	return text_view(&t);
}

static void check_nearest(void)
{
	is_str(nearest("sched:sched_swich"), STR("sched:sched_switch, sched:sched_waking, sched:sched_wakeup"),
	       "nearest first");
	is_str(nearest("sched:sched_wakeups"), STR("sched:sched_wakeup, sched:sched_waking, sched:sched_switch"),
	       "others");
	is_str(nearest("block:block_rq_isue"), STR("block:block_rq_issue"), "only what is near");
	is_str(nearest("zzz:yyy"), STR(""), "nothing is near");
}

static void put_size(struct text *text, uint64_t n, size_t width)
{
	text_bytes(text, &n, width);
}

static void put_format(struct text *text, const char *name)
{
	size_t n = strlen(name) + 7;

	put_size(text, n, 8);
	text_printf(text, "name: %s\n", name);
}

static void check_describe(void)
{
	struct tracepoint tp[] = {
		{ (char[]){ "sched:sched_waking" }, 375 },    { (char[]){ "ftrace:print" }, 5 },
		{ (char[]){ "block:block_rq_issue" }, 1200 }, { (char[]){ "sched:sched_switch" }, 372 },
		{ (char[]){ "sched:sched_switch" }, 372 },
	};
	struct text want = { 0 }, got = { 0 };

	text_bytes(&want,
		   "\x17\x08\x44tracing"
		   "0.6\0\0\10",
		   16);
	put_size(&want, (uint64_t)sysconf(_SC_PAGESIZE), 4);
	text_bytes(&want, "header_page", 12);
	put_size(&want, 5, 8);
	text_add(&want, "page\n");
	text_bytes(&want, "header_event", 13);
	put_size(&want, 6, 8);
	text_add(&want, "event\n");
	put_size(&want, 1, 4); /* of ftrace */
	put_format(&want, "print");
	put_size(&want, 2, 4); /* systems */
	text_bytes(&want, "block", 6);
	put_size(&want, 1, 4);
	put_format(&want, "block_rq_issue");
	text_bytes(&want, "sched", 6);
	put_size(&want, 2, 4);
	put_format(&want, "sched_switch");
	put_format(&want, "sched_waking");
	put_size(&want, 0, 4);
	put_size(&want, 11, 4);
	text_add(&want, "0x1 : \"%d\"\n");
	put_size(&want, 0, 8);
	ok(tracefs_describe(dir, tp, countof(tp), &got), "a section");
	is_u64(got.n, want.n, "its size");
	ok(got.n == want.n && memcmp(got.p, want.p, got.n) == 0, "its bytes: sorted by system, each once");
	got.n = 0;
	ok(tracefs_describe(dir, tp + 2, 1, &got) && got.n < want.n, "without ftrace");
	tp[0].name = (char[]){ "sched:gone" };
	ok(!tracefs_describe(dir, tp, 1, &got) && errno == ENOENT, "one that is gone");
	text_free(&want);
	text_free(&got);
}

static void check_limit(void)
{
	struct tracepoint *tp = NULL;
	size_t n = 0;

	while (n < TRACEFS_MAX - 1 && tracefs_find(dir, STR("block:*"), &tp, &n))
		;
	ok(n == TRACEFS_MAX - 1, "as many as may be");
	ok(!tracefs_find(dir, STR("sched:*"), &tp, &n) && errno == E2BIG, "more are refused");
	tracefs_free(tp, n);
}

int main(void)
{
	make_all();
	check_find();
	check_nearest();
	check_describe();
	check_limit();
	clean();
	ok(tracefs_dir() || errno, "this machine's, or why not");
	return done();
}
