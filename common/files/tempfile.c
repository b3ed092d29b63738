/* SPDX-License-Identifier: Apache-2.0 */
#include "common/files/tempfile.h"

#include "common/files/listing.h"
#include "common/str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define ATTEMPTS_MAX 16
#define DIGITS 16
/* seconds since the last write after which a sweep removes a file on a file system without locks */
#define STALE_AGE 3600

/* Locks a new temporary file. Returns false if a tempfile_sweep locked the file first, and has removed it or is about
 * to remove it: the caller creates another file. */
static bool lock_new(int fd)
{
	struct stat status;

	if (flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
		return false;
	return fstat(fd, &status) == 0 && status.st_nlink > 0;
}

int tempfile_create(int folder, mode_t mode, char name[TEMPFILE_NAME])
{
	for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
		uint64_t random;
		int fd;

		if (getrandom(&random, sizeof(random), 0) != sizeof(random))
			return -1;
		snprintf(name, TEMPFILE_NAME, ".%0*llx.tmp", DIGITS, (unsigned long long)random);
		fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
		if (fd < 0 && errno != EEXIST)
			return -1;
		if (fd >= 0 && lock_new(fd))
			return fd;
		if (fd >= 0)
			close(fd);
	}
	return -1;
}

int tempfile_hold(int fd)
{
	return fcntl(fd, F_DUPFD_CLOEXEC, 3);
}

static bool is_tempfile(const char *name)
{
	struct str string = str_of(name);

	if (string.n != 1 + DIGITS + 4 || string.p[0] != '.' || !str_ends(string, STR(".tmp")))
		return false;
	for (size_t i = 1; i <= DIGITS; i++)
		if (!byte_is_hex(string.p[i]))
			return false;
	return true;
}

static bool is_stale(int fd)
{
	struct stat status;

	if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode))
		return false;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		return true;
	return errno != EWOULDBLOCK && status.st_mtime < time(NULL) - STALE_AGE;
}

static void tempfile_sweep_file(int folder, const char *name)
{
	struct stat status;
	int fd;

	if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(status.st_mode))
		return;
	fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return;
	if (is_stale(fd))
		unlinkat(folder, name, 0);
	close(fd);
}

void tempfile_sweep(int folder)
{
	DIR *dir = listing_open(folder);
	const struct dirent *entry;

	if (!dir)
		return;
	while ((entry = readdir(dir)))
		if (is_tempfile(entry->d_name))
			tempfile_sweep_file(folder, entry->d_name);
	closedir(dir);
}
