/* tracefs: a tracefs of any names and texts gives tracepoints with numbers, or none, and a description that begins as
 * perf's. Input: a pattern, then id, format, header and further names, apart by 0xff. */
/* covers: record/perf/tracefs.c */
#include "record/perf/tracefs.h"
#include "common/arena.h"

#include "test/fuzz/fuzz.h"

#include <errno.h>
#include <sys/stat.h>

enum { NAMES = 6 };

static char made[NAMES + 2][300]; /* folders, to be removed from the last on */
static unsigned nmade;

static void make_event(const char *system, struct str name, struct str id, struct str format)
{
	char path[300], file[320];

	snprintf(path, sizeof(path), "events/%s/%.*s", system, (int)(name.n < 200 ? name.n : 200), name.p);
	if (nmade == countof(made) || memchr(name.p, '/', name.n) || mkdirat(fuzz_folder(), path, 0700) < 0)
		return;
	snprintf(made[nmade++], sizeof(made[0]), "%s", path);
	snprintf(file, sizeof(file), "%s/id", path);
	fuzz_put(file, id);
	snprintf(file, sizeof(file), "%s/format", path);
	fuzz_put(file, format);
}

static void clean(void)
{
	char file[320];

	while (nmade) {
		snprintf(file, sizeof(file), "%s/id", made[--nmade]);
		unlinkat(fuzz_folder(), file, 0);
		snprintf(file, sizeof(file), "%s/format", made[nmade]);
		unlinkat(fuzz_folder(), file, 0);
		unlinkat(fuzz_folder(), made[nmade], AT_REMOVEDIR);
	}
	unlinkat(fuzz_folder(), "events/header_page", 0);
	unlinkat(fuzz_folder(), "events/header_event", 0);
	unlinkat(fuzz_folder(), "printk_formats", 0);
	unlinkat(fuzz_folder(), "events/sched", AT_REMOVEDIR);
	unlinkat(fuzz_folder(), "events/ftrace", AT_REMOVEDIR);
	unlinkat(fuzz_folder(), "events", AT_REMOVEDIR);
}

static void find(struct str pattern)
{
	struct tracepoint *found = NULL;
	struct text t = { 0 };
	size_t n = 0;

	if (tracefs_find(fuzz_folder_path, pattern, &found, &n)) {
		MUST(n > 0 && n <= NAMES);
		(void)tracefs_find(fuzz_folder_path, pattern, &found, &n); /* asked for twice */
		for (size_t i = 0; i < n; i++)
			MUST(strchr(found[i].name, ':'));
		if (tracefs_describe(fuzz_folder_path, found, n, &t))
			MUST(t.n > 40 && memcmp(t.p, "\x17\x08\x44tracing", 10) == 0);
	} else {
		MUST(errno && n == 0);
	}
	tracefs_free(found, n);
	t.n = 0;
	tracefs_nearest(fuzz_folder_path, pattern, &t);
	text_free(&t);
}

int fuzz_one(const uint8_t *data, size_t n)
{
	struct str rest = { (const char *)data, n }, pattern = fuzz_part(&rest), id = fuzz_part(&rest),
		   format = fuzz_part(&rest);
	struct str header = fuzz_part(&rest);

	MUST(fuzz_folder() >= 0);
	mkdirat(fuzz_folder(), "events", 0700);
	mkdirat(fuzz_folder(), "events/sched", 0700);
	mkdirat(fuzz_folder(), "events/ftrace", 0700);
	if (header.n) {
		fuzz_put("events/header_page", header);
		fuzz_put("events/header_event", header);
	}
	if (header.n > 4)
		fuzz_put("printk_formats", header);
	make_event("sched", STR("sched_switch"), STR("316\n"), format);
	make_event("ftrace", STR("function"), id, format);
	for (unsigned i = 0; i < NAMES - 2 && rest.n; i++) {
		struct str name = fuzz_part(&rest);
		char *copy = mem_alloc(1, name.n + 1);

		memcpy(copy, name.p, name.n);
		make_event("sched", str_of(copy), id, format);
		free(copy);
	}
	if (memchr(pattern.p, 0, pattern.n) == NULL)
		find(pattern);
	find(STR("*:*"));
	clean();
	return 0;
}
