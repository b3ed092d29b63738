/* kept_test - which windows limits delete: those that were completed first, also after the clock was set back; symbols
 * without a window go first. */
/* covers: record/windows/retention.c */
#include "record/windows/retention.h"

#include "common/clocks.h"
#include "common/diag.h"
#include "test/lib/tap.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOW UINT64_C(1800000000)
#define FUTURE UINT64_C(4000000000)
#define DAY 86400

static char dir[] = "/tmp/pj-kept-test.XXXXXX";
static struct windir windir;
static struct metrics metrics;

static int folder(const char *name)
{
	if (mkdir(name, 0750) < 0)
		abort();
	return open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* A window of 64 kB that is written at a time of the clock, and named by it. */
static void window(struct retention *retention, uint64_t epoch)
{
	struct timespec times[2] = { { .tv_sec = (time_t)epoch }, { .tv_sec = (time_t)epoch } };
	static const char bytes[65536] = "x";
	char name[40];
	struct stat st;
	int fd;

	snprintf(name, sizeof(name), "%llu.data", (unsigned long long)epoch);
	fd = openat(windir.out, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
	if (fd < 0 || write(fd, bytes, sizeof(bytes)) != sizeof(bytes) || futimens(fd, times) < 0)
		abort();
	retention_stamp(retention, &windir, fd);
	if (fstat(fd, &st) < 0)
		abort();
	retention_add(retention, &windir, epoch, &st);
	close(fd);
}

static bool exists(uint64_t epoch)
{
	char name[40];

	snprintf(name, sizeof(name), "%llu.data", (unsigned long long)epoch);
	return faccessat(windir.out, name, F_OK, 0) == 0;
}

static void clear(struct retention *retention)
{
	if (system("rm -f out/* bad/*") != 0)
		abort();
	retention_free_list(retention);
}

static void clock_set_back(void)
{
	struct retention k = { 0 };
	struct retention_limits limits = { .bytes = 4 * 65536 };

	for (uint64_t i = 0; i < 4; i++)
		window(&k, FUTURE + 30 * i);
	for (uint64_t i = 0; i < 3; i++)
		window(&k, NOW + 30 * i);
	retention_limit(&k, &windir, &limits, 0, NOW + 90, &metrics);
	ok(!exists(FUTURE) && !exists(FUTURE + 30) && !exists(FUTURE + 60) && exists(FUTURE + 90),
	   "the first to go are those completed first");
	ok(exists(NOW) && exists(NOW + 30) && exists(NOW + 60), "the newest stay, although their names are the lowest");
	retention_free_list(&k); /* a new run, which knows what the files say only */
	window(&k, NOW + 120);
	limits.bytes = 2 * 65536;
	retention_limit(&k, &windir, &limits, 0, NOW + 150, &metrics);
	ok(!exists(FUTURE + 90) && !exists(NOW) && !exists(NOW + 30) && exists(NOW + 60) && exists(NOW + 120),
	   "also for the next run");
	limits.bytes = 1;
	retention_limit(&k, &windir, &limits, 0, NOW + 150, &metrics);
	ok(!exists(NOW + 60) && exists(NOW + 120), "the last that was completed stays in any case");
	clear(&k);
}

static void ages(void)
{
	struct retention k = { 0 };
	struct retention_limits limits = { .age_s = 10 * DAY };

	window(&k, NOW);
	window(&k, FUTURE);
	window(&k, NOW + DAY);
	window(&k, NOW + 20 * DAY);
	retention_limit(&k, &windir, &limits, 0, NOW + 5 * DAY, &metrics);
	ok(exists(NOW) && exists(FUTURE) && exists(NOW + DAY), "none is old enough");
	retention_limit(&k, &windir, &limits, 0, NOW + 10 * DAY + 60, &metrics);
	ok(!exists(NOW) && exists(FUTURE) && exists(NOW + DAY), "one is");
	retention_limit(&k, &windir, &limits, 0, NOW + 21 * DAY, &metrics);
	ok(!exists(FUTURE) && !exists(NOW + DAY) && exists(NOW + 20 * DAY),
	   "one named by a clock that was ahead goes with the next");
	clear(&k);
	window(&k, NOW);
	window(&k, 1000);
	window(&k, NOW + 60);
	retention_limit(&k, &windir, &limits, 0, NOW + DAY, &metrics);
	ok(exists(NOW) && exists(1000), "a clock that began at 1970 makes no window old");
	clear(&k);
}

static void clock_ahead(void)
{
	struct retention_clock c = { 0 };
	struct retention k = { 0 };
	struct retention_limits limits = { .age_s = 10 * DAY };
	uint64_t boot = 100, now;

	is_u64(retention_now(&c, NOW, boot, 0, limits.age_s), NOW, "without windows the wall clock counts");
	is_u64(retention_now(&c, NOW + 600, boot += 600, NOW + 590, limits.age_s), NOW + 600, "it goes on");
	is_u64(retention_now(&c, NOW + 500, boot += 10, NOW + 590, limits.age_s), NOW + 500,
	       "a clock that is set back counts at once");
	window(&k, NOW);
	window(&k, NOW + 60);
	now = retention_now(&c, NOW + 500 * DAY, boot += 30, NOW, limits.age_s);
	is_u64(now, NOW + 530, "one that jumps ahead does not");
	retention_limit(&k, &windir, &limits, 0, now, &metrics);
	ok(exists(NOW), "so it deletes no window");
	now = retention_now(&c, NOW + 501 * DAY - 60, boot += DAY - 60, NOW, limits.age_s);
	is_u64(now, NOW + 470 + DAY, "also within a day");
	is_u64(retention_now(&c, NOW + DAY + 560, boot += 60, NOW, limits.age_s), NOW + DAY + 560,
	       "put right within the day, all is as before");
	retention_now(&c, NOW + 500 * DAY, boot += 30, NOW, limits.age_s);
	now = retention_now(&c, NOW + 501 * DAY, boot += DAY, NOW, limits.age_s);
	is_u64(now, NOW + 501 * DAY, "after a day it counts");
	retention_limit(&k, &windir, &limits, 0, now, &metrics);
	ok(!exists(NOW) && exists(NOW + 60), "and windows are old");
	c = (struct retention_clock){ 0 };
	is_u64(retention_now(&c, NOW + 500 * DAY, boot, NOW, limits.age_s), NOW,
	       "a run that begins with such a clock goes on from the newest window");
	is_u64(retention_now(&c, NOW + 500 * DAY + 600, boot + 600, NOW + 500 * DAY, 600), NOW + 500 * DAY + 600,
	       "a shorter age limit waits that long only");
	clear(&k);
}

struct symbols {
	uint64_t bytes; /* that one call frees */
	unsigned calls;
	bool first; /* called before any window was deleted */
};

static uint64_t drop(void *arg)
{
	struct symbols *s = arg;
	uint64_t bytes = s->bytes;

	s->first = s->first || (s->calls == 0 && exists(NOW));
	s->calls++;
	s->bytes = 0;
	return bytes;
}

static void symbols_first(void)
{
	struct retention k = { 0 };
	struct symbols s = { .bytes = UINT64_C(1) << 50 };
	struct retention_limits limits = { .drop_symbols = drop, .arg = &s };

	for (uint64_t i = 0; i < 20; i++)
		window(&k, NOW + 30 * i);
	ok(retention_limit(&k, &windir, &limits, 65536, NOW + 600, &metrics) && s.calls == 1 && exists(NOW),
	   "files that no window needs are enough: no window goes");
	s = (struct symbols){ 0 };
	retention_limit(&k, &windir, &limits, 6 * 65536, NOW + 600, &metrics);
	ok(s.first && !exists(NOW) && exists(NOW + 30 * 19), "else windows go, after them");
	ok(s.calls >= 3 && s.calls <= 5, "and between them symbols, a few times");
	s = (struct symbols){ 0 };
	limits.bytes = 3 * 65536;
	retention_limit(&k, &windir, &limits, 0, NOW + 600, &metrics);
	is_u64(s.calls, 0, "other limits are none of their business");
	clear(&k);
}

int main(void)
{
	char command[80];

	diag_tool("pjtest");
	if (!mkdtemp(dir) || chdir(dir) < 0)
		return 1;
	windir = (struct windir){ .dir = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
				  .recording = -1,
				  .out = folder("out"),
				  .bad = folder("bad") };
	clock_set_back();
	ages();
	clock_ahead();
	symbols_first();
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return chdir("/") < 0 || system(command) != 0 ? 1 : done();
}
