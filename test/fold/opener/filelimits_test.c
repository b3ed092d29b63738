/* The limits of the time for which pjfold waits for files: a server that sends a block now and then cannot hold it. The
 * clock of pjfold is this test's: each wait for the helper takes a second of it. */
/* covers: fold/opener/fileopener.c fold/opener/openerhelper.c */
#include "common/clocks.h"
#include "common/filter/broker.h"
#include "common/files/targetfile.h"
#include "common/hash.h"
#include "common/process/capabilities.h"
#include "common/process/fdmessage.h"
#include "common/process/sandbox.h"
#include "fold/opener/fileopener.h"
#include "test/lib/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

static uint64_t test_clock = SECOND_NS;

static uint64_t fake_now(void)
{
	return test_clock;
}

static int fake_poll(struct pollfd *polled, nfds_t n, int ms)
{
	(void)ms;
	test_clock += SECOND_NS;
	return poll(polled, n, -1);
}

/* All file systems have a server. */
static int fake_statfs(int fd, struct statfs *status)
{
	int done = fstatfs(fd, status);

	status->f_type = 0x65735546; /* FUSE */
	return done;
}

/* A file without end: a block of zeros at each offset. */
static ssize_t fake_pread(int fd, void *p, size_t n, off_t at)
{
	(void)fd;
	(void)at;
	memset(p, 0, n);
	return (ssize_t)n;
}

#define clock_now fake_now
#define fstatfs fake_statfs
#define pread fake_pread
#define poll fake_poll
#include "fold/opener/openerhelper.c"
#include "fold/opener/fileopener.c"
#undef poll
#undef pread
#undef fstatfs
#undef clock_now

/* Opens a file of the process; returns the seconds that passed, and sets *error. */
static uint64_t open_timed(pid_t pid, const char *path, int *error)
{
	uint64_t from = test_clock;
	int fd = fileopener_inside(pid, str_of(path));

	*error = fd < 0 ? errno : 0;
	if (fd >= 0)
		close(fd);
	return (test_clock - from) / SECOND_NS;
}

static void check_file(const char *path)
{
	int error;
	uint64_t seconds = open_timed(getpid(), path, &error);

	ok(error == ETIMEDOUT, "a file that never ends is given up");
	ok(seconds >= FILEOPENER_FILE_MS / 1000 && seconds <= FILEOPENER_FILE_MS / 1000 + 2,
	   "  at the limit of a file");
	is_u64(fileopener_skipped(), 1, "  and counted");
	open_timed(getpid(), path, &error);
	is_u64(fileopener_skipped(), 2, "  a second time it is not opened");
}

/* The directories differ, so that none of them counts as one that does not respond. */
static void check_process(const char *dir)
{
	struct fileopener_wait wait[3];
	uint64_t seconds = 0;
	char path[200];
	int error = 0;

	for (int i = 0; i < 8; i++) {
		int fd;

		snprintf(path, sizeof(path), "%s/%d", dir, i);
		mkdir(path, 0700);
		snprintf(path, sizeof(path), "%s/%d/file", dir, i);
		fd = open(path, O_WRONLY | O_CREAT, 0600);
		close(fd);
		seconds += open_timed(getpid(), path, &error);
	}
	ok(error == ETIMEDOUT, "the last file of a process that was slow");
	ok(seconds + FILEOPENER_FILE_MS / 1000 <= FILEOPENER_PROCESS_MS / 1000 + 20,
	   "  all its files take no longer than the limit of a process");
	is_u64(fileopener_waits(wait, 3), 1, "one process had files that were skipped");
	ok(wait[0].pid == getpid() && wait[0].skipped == 10 && wait[0].ns >= FILEOPENER_PROCESS_MS * MS_NS,
	   "  with its pid, their number and the time");
	for (int i = 0; i < 8; i++) {
		snprintf(path, sizeof(path), "%s/%d/file", dir, i);
		unlink(path);
		snprintf(path, sizeof(path), "%s/%d", dir, i);
		rmdir(path);
	}
}

int main(void)
{
	char dir[] = "/tmp/pj-filelimits.XXXXXX", path[200];
	int fd;

	if (!mkdtemp(dir))
		return 1;
	snprintf(path, sizeof(path), "%s/file", dir);
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	close(fd);
	check_file(path);
	check_process(dir);
	unlink(path);
	rmdir(dir);
	return done();
}
