/* DIR/maps: a timeline stays while its JVM lives, a day longer, and while a window of its time is there; the limit
 * takes the oldest, and what is needed last. */
/* covers: jmap/timeline/mapsdir.c */
#include "jmap/timeline/mapsdir.h"

#include "common/formats/jmapfile.h"
#include "runtimes/hotspot/discover.h"
#include "test/lib/tap.h"
#include "common/files/fullio.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DAY 86400
#define KB 1024

static char dir[64], boot[BOOT_ID + 1];
static const char former[] = "00000000-0000-0000-0000-000000000000";

/* dir/folder/a/b, as far as there are any. */
static const char *path_of(const char *folder, const char *a, const char *b)
{
	static char path[2][400];
	static unsigned i;

	i = !i;
	snprintf(path[i], sizeof(path[i]), "%s/%s%s%s%s%s", dir, folder, *a ? "/" : "", a, *b ? "/" : "", b);
	return path[i];
}

/* A file of so many KB whose time is so many s ago. */
static void put(const char *path, unsigned kb, time_t ago)
{
	char block[KB];
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0640);
	struct timespec times[2] = { { 0, UTIME_OMIT }, { time(NULL) - ago, 0 } };

	memset(block, 'x', sizeof(block));
	for (unsigned i = 0; i < kb; i++)
		if (!fullio_write(fd, (struct str){ block, sizeof(block) }))
			perror(path);
	futimens(fd, times);
	close(fd);
}

static void timeline(const char *of, const char *file, unsigned kb, time_t ago)
{
	mkdir(path_of("maps", of, ""), 0750);
	put(path_of("maps", of, file), kb, ago);
}

/* One that began so long ago and was complete then. */
static void window(const char *folder, time_t began, time_t ended)
{
	char name[40];

	snprintf(name, sizeof(name), "%lld.data", (long long)(time(NULL) - began));
	put(path_of(folder, name, ""), 1, ended);
}

static bool is_there(const char *of, const char *file)
{
	return access(path_of("maps", of, file), F_OK) == 0;
}

static void remove_all(void)
{
	char command[96];

	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	if (dir[0] && system(command) != 0)
		perror(dir);
}

static void fresh(void)
{
	remove_all();
	snprintf(dir, sizeof(dir), "/tmp/pj-mapsdir.XXXXXX");
	if (!mkdtemp(dir))
		perror(dir);
	mkdir(path_of("out", "", ""), 0750);
	mkdir(path_of("recording", "", ""), 0750);
	mkdir(path_of("maps", "", ""), 0750);
}

static struct mapsdir_swept sweep(uint64_t max)
{
	return mapsdir_sweep(dir, "/proc", boot, max);
}

/* The names of processes that live: ours, and one of a start that is not ours. */
static void own_names(char name[MAPSDIR_NAME], char other[MAPSDIR_NAME])
{
	struct jvm_process p;

	discover_one("/proc", getpid(), &p);
	mapsdir_name(name, p.pid, p.start);
	mapsdir_name(other, p.pid, p.start + 1);
	jvm_process_close(&p);
}

static void by_need(void)
{
	char mine[MAPSDIR_NAME], reused[MAPSDIR_NAME];
	struct mapsdir_swept s;

	fresh();
	own_names(mine, reused);
	timeline(boot, mine, 1, 3 * DAY);
	timeline(boot, reused, 1, 3 * DAY);
	timeline(boot, "999999991-1.jmap", 1, 3 * DAY);
	timeline(boot, "999999992-1.jmap", 1, DAY / 2);
	timeline(boot, "notes.txt", 1, 3 * DAY);
	timeline(boot, "0999-1.jmap", 1, 3 * DAY);
	timeline(former, "12-34.jmap", 1, 9 * DAY);
	s = sweep(0);
	ok(is_there(boot, mine), "a JVM that lives, at rest for three days: stays");
	ok(!is_there(boot, reused), "its number, of another start: goes");
	ok(!is_there(boot, "999999991-1.jmap"), "dead for three days, no window: goes");
	ok(is_there(boot, "999999992-1.jmap"), "dead for half a day: stays");
	ok(is_there(boot, "notes.txt") && is_there(boot, "0999-1.jmap"), "what is no timeline: stays");
	ok(!is_there(former, "12-34.jmap") && access(path_of("maps", former, ""), F_OK) < 0,
	   "of a former boot: goes with its folder");
	is_u64(s.unneeded, 3, "three are counted");
	is_u64(s.needed, 0, "  none of them needed");
}

static void by_windows(void)
{
	fresh();
	timeline(former, "1-1.jmap", 1, 5 * DAY);
	timeline(former, "2-1.jmap", 1, 3 * DAY);
	window("out", 4 * DAY, 4 * DAY - 60);
	sweep(0);
	ok(!is_there(former, "1-1.jmap"), "it died before the only window began: goes");
	ok(is_there(former, "2-1.jmap"), "it lived then: stays for three days, and longer");
	timeline(former, "1-1.jmap", 1, 5 * DAY);
	window("recording", 6 * DAY, 6 * DAY);
	sweep(0);
	ok(is_there(former, "1-1.jmap"), "a window that is being recorded counts");
	fresh();
	timeline(former, "2-1.jmap", 1, 3 * DAY);
	if (symlink("/etc/passwd", path_of("out", "1.data", "")) < 0)
		perror("symlink");
	sweep(0);
	ok(!is_there(former, "2-1.jmap"), "a link is no window");
}

static void by_size(void)
{
	struct mapsdir_swept s;

	fresh();
	timeline(former, "1-1.jmap", 100, 4000);
	timeline(former, "2-1.jmap", 100, 3000);
	timeline(former, "3-1.jmap", 100, 2000);
	timeline(former, "4-1.jmap", 100, 1000);
	window("out", 3500, 2500);
	s = sweep(1000 * KB);
	ok(s.unneeded == 0 && s.bytes >= 400 * KB, "below the limit: all stay");
	s = sweep(350 * KB);
	ok(!is_there(former, "1-1.jmap") && is_there(former, "2-1.jmap"), "beyond: the oldest that no window needs");
	s = sweep(270 * KB);
	ok(!is_there(former, "2-1.jmap") && is_there(former, "3-1.jmap") && s.needed == 1,
	   "all are needed: the oldest goes, and is counted");
}

/* A timeline of a tenant, with nothing but its start and zeros. */
static void timeline_of(const char *file, const char *tenant, unsigned kb, time_t ago)
{
	struct text t = { 0 }, body = { 0 };
	int fd;

	timeline(former, file, kb, ago);
	text_str(&t, STR(JMAP_MAGIC));
	text_char(&body, JMAP_START);
	text_printf(&body, "boot=x pid=1 inner=1 start=1 tenant=%s version=17 tenant=user-7", tenant);
	jmap_frame(&t, text_view(&body));
	fd = open(path_of("maps", former, file), O_WRONLY);
	if (fd < 0 || pwrite(fd, t.p, t.n, 0) != (ssize_t)t.n)
		perror(file);
	futimens(fd, (struct timespec[2]){ { 0, UTIME_OMIT }, { time(NULL) - ago, 0 } });
	close(fd);
	text_free(&t);
	text_free(&body);
}

static void by_tenant(void)
{
	struct mapsdir_swept s;

	fresh();
	window("out", 5000, 0);
	timeline_of("1-1.jmap", "user-1001", 100, 4000);
	timeline_of("2-1.jmap", "user-1002", 100, 3900);
	timeline_of("3-1.jmap", "user-1000", 100, 3000);
	timeline_of("4-1.jmap", "user-1000", 100, 2000);
	timeline_of("5-1.jmap", "user-1000", 100, 1000);
	s = sweep(1000 * KB);
	is_u64(s.needed, 0, "a tenant may use what others leave");
	s = sweep(420 * KB);
	ok(is_there(former, "1-1.jmap") && is_there(former, "2-1.jmap"),
	   "beyond the limit: the oldest ones are those of others, and stay");
	ok(!is_there(former, "3-1.jmap") && is_there(former, "4-1.jmap") && s.needed == 1,
	   "the oldest of the tenant that holds most goes");
	ok(s.largest.kind == TENANT_USER && s.largest.key == 1000 && s.largest_bytes >= 300 * KB, "which is named");
	s = sweep(120 * KB);
	ok(s.bytes <= 120 * KB && s.needed >= 2, "a limit for less than that holds, too");
}

static void by_lock(void)
{
	struct mapsdir_swept s;
	int fd;

	fresh();
	timeline(former, "1-1.jmap", 100, 4000);
	fd = open(path_of("maps", former, "1-1.jmap"), O_RDONLY);
	flock(fd, LOCK_EX);
	s = sweep(KB);
	ok(is_there(former, "1-1.jmap") && s.bytes >= 100 * KB, "somebody writes it: it stays");
	close(fd);
	s = sweep(KB);
	ok(!is_there(former, "1-1.jmap") && s.bytes == 0, "  afterwards it goes");
}

static void elsewhere(void)
{
	int fd;

	fresh();
	rmdir(path_of("maps", "", ""));
	mkdir(path_of("other", "", ""), 0750);
	mkdir(path_of("other", former, ""), 0750);
	put(path_of("other", former, "1-1.jmap"), 1, 3 * DAY);
	if (symlink("other", path_of("maps", "", "")) < 0)
		perror("symlink");
	sweep(1);
	ok(access(path_of("other", former, "1-1.jmap"), F_OK) == 0, "maps is a link: nothing is removed there");
	fd = mapsdir_enter(dir, former);
	ok(fd < 0 && (errno == ELOOP || errno == ENOTDIR), "  and nothing written");
	if (geteuid() != 0)
		return;
	unlink(path_of("maps", "", ""));
	mkdir(path_of("maps", "", ""), 0777);
	if (chown(path_of("maps", "", ""), 12345, 12345) < 0)
		perror("chown");
	timeline(former, "1-1.jmap", 1, 3 * DAY);
	sweep(1);
	ok(is_there(former, "1-1.jmap"), "maps is somebody else's: nothing is removed there");
	fd = mapsdir_enter(dir, former);
	ok(fd < 0 && errno == EPERM, "  and nothing written");
}

int main(void)
{
	if (!boot_id("/proc", boot))
		snprintf(boot, sizeof(boot), "11111111-1111-1111-1111-111111111111");
	by_need();
	by_windows();
	by_size();
	by_tenant();
	by_lock();
	elsewhere();
	remove_all();
	return done();
}
