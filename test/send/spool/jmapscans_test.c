/* Timelines that pjmap has not scanned since the end of a window: of processes that live, while a pjmap runs. */
/* covers: send/spool/jmapscans.c */
#include "common/clocks.h"
#include "send/spool/jmapscans.h"
#include "test/lib/tap.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define END (UINT64_C(1700000000) * SECOND_NS) /* of the window */

static char dir[] = "/tmp/pj-jmapscans.XXXXXX";

static const char *path_of(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/maps/boot/%s", dir, name);
	return path;
}

/* Makes the timeline `name`, last scanned that many seconds after END. */
static void scanned(const char *name, int seconds)
{
	const time_t at = (time_t)(END / SECOND_NS) + seconds;
	const struct timespec times[2] = { { .tv_sec = at }, { .tv_sec = at } };
	int fd = open(path_of(name), O_WRONLY | O_CREAT, 0600);

	if (fd < 0 || futimens(fd, times) != 0 || close(fd) != 0)
		abort();
}

static unsigned missing(void)
{
	int fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	unsigned n = jmapscans_missing(fd, "boot", END);

	close(fd);
	return n;
}

/* The folder of the timelines, and the one above. */
static const char *folder_of(bool above)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/maps%s", dir, above ? "" : "/boot");
	return path;
}

static const char *name_of(pid_t pid)
{
	static char name[32];

	snprintf(name, sizeof(name), "%d-12345.jmap", (int)pid);
	return name;
}

static pid_t ended_process(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	return pid;
}

static void test_scans(void)
{
	const char *own = name_of(getpid());

	scanned(own, -1);
	is_u64(missing(), 1, "one that was scanned a second before the end");
	scanned(own, 0);
	is_u64(missing(), 0, "none: one that was scanned at the end");
	scanned(own, -61);
	is_u64(missing(), 0, "none: no pjmap has run for a minute");
	scanned(own, -59);
	is_u64(missing(), 1, "one that was scanned 59 s ago");
}

static void test_others(void)
{
	static const char *const strange[] = { "jvm.jmap", "0-1.jmap", "99999999999-1.jmap", "1-1.map", "1-1.jmap" };
	const char *ended;

	ended = name_of(ended_process());
	scanned(ended, -1);
	is_u64(missing(), 1, "a process that ended needs no scan");
	unlink(path_of(ended));
	for (size_t i = 0; i + 1 < countof(strange); i++)
		scanned(strange[i], -1);
	if (symlink("/etc/passwd", path_of("1-1.jmap")) != 0)
		abort();
	is_u64(missing(), 1, "names that are not of timelines do not count, nor does a link");
	unlink(path_of("1-1.jmap"));
	scanned("1-1.jmap", -1);
	is_u64(missing(), 2, "a process of any user counts");
	for (size_t i = 0; i < countof(strange); i++)
		unlink(path_of(strange[i]));
}

int main(void)
{
	if (!mkdtemp(dir))
		return 1;
	is_u64(missing(), 0, "no timelines: no pjmap has run");
	mkdir(folder_of(true), 0700);
	mkdir(folder_of(false), 0700);
	test_scans();
	test_others();
	unlink(path_of(name_of(getpid())));
	rmdir(folder_of(false));
	rmdir(folder_of(true));
	ok(rmdir(dir) == 0, "no file is left or made");
	return done();
}
