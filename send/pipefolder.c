/* SPDX-License-Identifier: Apache-2.0 */
#include "send/pipefolder.h"

#include "common/files/listing.h"
#include "common/files/tempfile.h"
#include "common/str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define MARK "from-pipe"
#define ATTEMPTS_MAX 16

/* entries that the spool directory may have without windows, in order of removal; the lock file MARK is the last */
static const char *const in_folder[] = { "pjsend.prom", "spool", "bad", MARK, NULL };
static const char *const in_spool[] = { "recorder", NULL };
static const char *const in_bad[] = { NULL };

static bool is_listed(const char *const *names, const char *name)
{
	for (; *names; names++)
		if (strcmp(*names, name) == 0)
			return true;
	return false;
}

/* Removes temporary files that no process has locked. Then returns true if the directory contains only entries in
 * `names`. */
static bool has_only(int folder, const char *const *names)
{
	DIR *dir = listing_open(folder);
	const struct dirent *entry;
	bool only = true;

	if (!dir)
		return false;
	tempfile_sweep(folder);
	while ((entry = readdir(dir)))
		only = only && (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
				is_listed(names, entry->d_name));
	closedir(dir);
	return only;
}

static int pipefolder_enter(int folder, const char *name)
{
	return openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Removes the directory `name` in `folder` if it contains only entries in `names`. Returns true if the
 * directory does not exist afterwards. */
static bool empty_one(int folder, const char *name, const char *const *names)
{
	int fd = pipefolder_enter(folder, name);
	bool only;

	if (fd < 0)
		return errno == ENOENT;
	only = has_only(fd, names);
	for (; only && *names; names++)
		unlinkat(fd, *names, 0);
	close(fd);
	return only && unlinkat(folder, name, AT_REMOVEDIR) == 0;
}

/* Removes all files of a spool directory without windows. Returns false if it has a window or another file. */
static bool empty_all(int folder)
{
	if (!has_only(folder, in_folder))
		return false;
	if (!empty_one(folder, "bad", in_bad) || !empty_one(folder, "spool", in_spool))
		return false;
	unlinkat(folder, "pjsend.prom", 0);
	return unlinkat(folder, MARK, 0) == 0;
}

/* Locks the file MARK of a directory and returns its descriptor; -1 if the file does not exist, is another user's, or
 * is locked by another process. */
static int lock_mark(int folder)
{
	int fd = openat(folder, MARK, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat status;

	if (fd < 0)
		return -1;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
	    flock(fd, LOCK_EX | LOCK_NB) == 0)
		return fd;
	close(fd);
	return -1;
}

static bool pipefolder_remove_at(int parent, const char *name, int lock)
{
	int folder = pipefolder_enter(parent, name);
	bool done = false;
	struct stat status;

	if (folder < 0) {
		if (lock >= 0)
			close(lock);
		return false;
	}
	if (lock < 0 && fstat(folder, &status) == 0 && status.st_uid == geteuid())
		lock = lock_mark(folder);
	if (lock >= 0) {
		done = empty_all(folder) && unlinkat(parent, name, AT_REMOVEDIR) == 0;
		close(lock);
	}
	close(folder);
	return done;
}

void pipefolder_remove(const char *path, int lock)
{
	pipefolder_remove_at(AT_FDCWD, path, lock);
}

/* Removes all temporary directories in `tmp` that killed processes left and that have no window. */
static void pipefolder_sweep(const char *tmp)
{
	DIR *dir = listing_take(open(tmp, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	const struct dirent *entry;

	if (!dir)
		return;
	while ((entry = readdir(dir)))
		if (strncmp(entry->d_name, "pjsend.", 7) == 0)
			pipefolder_remove_at(dirfd(dir), entry->d_name, -1);
	closedir(dir);
}

/* Creates the file MARK in a new directory and locks it. Returns its descriptor; -1 with errno on failure; -1 with
 * errno 0 if pipefolder_sweep of another process removed the file before it was locked. */
static int make_mark(const char *path)
{
	int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int fd = folder < 0 ? -1 : openat(folder, MARK, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	struct stat status;
	int error = errno;

	if (folder >= 0)
		close(folder);
	errno = error;
	if (fd < 0)
		return -1;
	/* A file system without locks is no failure: there pipefolder_sweep cannot lock this file either, so it removes
	 * nothing. */
	if ((flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK) || fstat(fd, &status) < 0 ||
	    status.st_nlink == 0) {
		close(fd);
		errno = 0;
		return -1;
	}
	return fd;
}

int pipefolder_make(char *path, size_t space)
{
	const char *tmp = getenv("TMPDIR");
	int fd = -1;

	tmp = tmp && *tmp ? tmp : "/tmp";
	pipefolder_sweep(tmp);
	for (int i = 0; i < ATTEMPTS_MAX && fd < 0; i++) {
		snprintf(path, space, "%s/pjsend.XXXXXX", tmp);
		if (!mkdtemp(path))
			return -1;
		fd = make_mark(path);
		if (fd < 0 && errno)
			return -1;
	}
	errno = EAGAIN;
	return fd;
}
