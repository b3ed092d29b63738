/* SPDX-License-Identifier: Apache-2.0 */
#include "record/windows/windowfile.h"

#include "common/diag.h"
#include "common/files/fullio.h"
#include "record/windows/epochs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* ATTEMPTS: maximum number of attempts to find a free name while other runs take names; then the operation fails. TEMP:
 * size in bytes of a buffer for a temporary name. */
#define ATTEMPTS 100
#define TEMP (WINDOWFILE_NAME + 20)

/* ---- names --------------------------------------------------------------------------------------------------- */

void windowfile_name(char name[WINDOWFILE_NAME], uint64_t epoch)
{
	snprintf(name, WINDOWFILE_NAME, "%" PRIu64 ".data", epoch);
}

static bool note_epoch(void *arg, int space, const char *name, uint64_t epoch)
{
	(void)space;
	(void)name;
	epochs_used(arg, epoch);
	return true;
}

int windowfile_open_used(const struct windir *windir, const char *dir)
{
	struct epochs epochs = { 0 };
	struct stat status;
	/* mode 0600: a user who can open the file could lock it and stop the recorder */
	int fd = openat(windir->recording, "used", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0 || fstat(fd, &status) < 0 || !S_ISREG(status.st_mode))
		die_errno("cannot use '%s/recording/used'", dir);
	if (status.st_size > 0)
		return fd;
	windir_each(windir->recording, note_epoch, &epochs);
	windir_each(windir->out, note_epoch, &epochs);
	windir_each(windir->bad, note_epoch, &epochs);
	if (epochs.n && !epochs_add_to(fd, &epochs))
		warn("cannot write '%s/recording/used': %s", dir, strerror(errno));
	return fd;
}

/* ---- renaming ------------------------------------------------------------------------------------------------ */

/* Renames a file as renameat does, but returns false with errno EEXIST if the new name exists. */
static bool windowfile_move(int from, const char *name, int to, const char *new_name)
{
	if (fullio_rename_new(from, name, to, new_name))
		return true;
	if (errno != EINVAL && errno != ENOSYS)
		return false;
	/* The file system lacks RENAME_NOREPLACE. Each name is used by one window only, so no other file gets this name
	 * between the check and the rename. */
	if (faccessat(to, new_name, F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
		errno = EEXIST;
		return false;
	}
	return renameat(from, name, to, new_name) == 0;
}

bool windowfile_publish(const struct windir *windir, int used, uint64_t from, uint64_t *epoch)
{
	char name[WINDOWFILE_NAME], new_name[WINDOWFILE_NAME];

	windowfile_name(name, from);
	*epoch = from;
	for (int i = 0; i < ATTEMPTS; i++) {
		windowfile_name(new_name, *epoch);
		if (windowfile_move(windir->recording, name, windir->out, new_name))
			return true;
		if (errno != EEXIST || !epochs_take_from(used, *epoch + 1, epoch))
			return false;
	}
	return false;
}

/* ---- locks and creation -------------------------------------------------------------------------------------- */

/* Sets a second lock (OFD) of a window's file. It shows other runs that a run is writing the window; they query this
 * lock without taking it. The first lock (flock) cannot show that, as processes that rescue or remove windows take it
 * briefly, too. */
static void mark_written(int fd)
{
	struct flock f = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };

	/* if F_OFD_SETLK fails, overlapping runs do not find this window in windows_predecessor */
	fcntl(fd, F_OFD_SETLK, &f);
}

bool windowfile_is_written(int fd)
{
	struct flock f = { .l_type = F_RDLCK, .l_whence = SEEK_SET, .l_len = 1 };

	return fcntl(fd, F_OFD_GETLK, &f) == 0 && f.l_type == F_WRLCK;
}

/* Creates the file of the window `name` under a temporary name, which is stored in `temp`, and locks it. The caller
 * renames it, so that other runs never see the window unlocked. A run that removes leftovers may lock and delete the
 * file first; so each attempt uses another temporary name. Returns the descriptor; -1 with errno on failure. */
static int new_file(const struct windir *windir, const char *name, char temp[TEMP])
{
	struct stat status;

	for (int i = 0; i < ATTEMPTS; i++) {
		int fd;

		snprintf(temp, TEMP, ".%s.%d.tmp", name, i);
		fd = openat(windir->recording, temp, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0640);
		if (fd < 0 && errno != EEXIST)
			return -1;
		if (fd < 0)
			continue;
		if (flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &status) == 0 && status.st_nlink) {
			mark_written(fd);
			return fd;
		}
		close(fd);
		errno = EWOULDBLOCK;
	}
	return -1;
}

int windowfile_create(const struct windir *windir, int used, uint64_t epoch, uint64_t *taken)
{
	char name[WINDOWFILE_NAME], temp[TEMP];
	int error, fd;

	for (int i = 0; i < ATTEMPTS; i++) {
		if (!epochs_take_from(used, epoch, taken))
			return -1;
		windowfile_name(name, *taken);
		fd = new_file(windir, name, temp);
		if (fd < 0)
			return -1;
		if (windowfile_move(windir->recording, temp, windir->recording, name))
			return fd;
		error = errno;
		unlinkat(windir->recording, temp, 0);
		close(fd);
		errno = error;
		if (error != EEXIST)
			return -1;
	}
	return -1;
}
