/* SPDX-License-Identifier: Apache-2.0 */
#include "common/files/fullio.h"

#include "common/files/tempfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

bool fullio_read(int fd, struct text *text, size_t max)
{
	size_t start = text->n;
	ssize_t got = fd < 0 ? -1 : 1;

	while (fd >= 0 && text->n - start < max) {
		text_reserve(text, 4096);
		got = read(fd, text->p + text->n, text->cap - text->n);
		if (got > 0)
			text->n += (size_t)got;
		else if (got == 0 || errno != EINTR)
			break;
	}
	if (got > 0)
		errno = EFBIG;
	return got == 0;
}

bool fullio_read_at(int dir, const char *path, struct text *text, size_t max)
{
	int fd = openat(dir, path, O_RDONLY | O_CLOEXEC), error;
	bool good = fullio_read(fd, text, max);

	error = errno;
	if (fd >= 0)
		close(fd);
	errno = error;
	return good;
}

size_t fullio_pread(int fd, void *to, size_t n, uint64_t at)
{
	size_t got = 0;

	if (at > INT64_MAX || n > INT64_MAX - at)
		return 0;
	while (got < n) {
		ssize_t r = pread(fd, (char *)to + got, n - got, (off_t)(at + got));

		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			break;
		got += (size_t)r;
	}
	return got;
}

bool fullio_write(int fd, struct str string)
{
	while (string.n) {
		ssize_t got = write(fd, string.p, string.n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return false;
		string = str_from(string, (size_t)got);
	}
	return true;
}

bool fullio_copy(int to, int from, uint64_t n)
{
	char part[32 << 10];

	for (uint64_t at = 0; at < n;) {
		size_t got = fullio_pread(from, part, n - at < sizeof(part) ? (size_t)(n - at) : sizeof(part), at);

		if (got == 0) {
			errno = EIO;
			return false;
		}
		if (!fullio_write(to, (struct str){ part, got }))
			return false;
		at += got;
	}
	return true;
}

bool fullio_replace(int folder, const char *name, struct str bytes)
{
	char temp[TEMPFILE_NAME];
	int fd = tempfile_create(folder, 0640, temp), held, error = 0;

	if (fd < 0)
		return false;
	held = tempfile_hold(fd);
	if (!fullio_write(fd, bytes) || fsync(fd) < 0)
		error = errno;
	if (close(fd) < 0 && !error)
		error = errno;
	if (!error && renameat(folder, temp, folder, name) < 0)
		error = errno;
	if (error)
		unlinkat(folder, temp, 0);
	if (held >= 0)
		close(held);
	if (!error && fsync(folder) < 0 && errno != EINVAL)
		error = errno;
	errno = error;
	return error == 0;
}

bool fullio_rename_new(int from, const char *name, int to, const char *new_name)
{
	/* called by number, because musl has no renameat2() */
	return syscall(SYS_renameat2, from, name, to, new_name, 1u /* RENAME_NOREPLACE */) == 0;
}

bool fullio_move_new(int from, const char *name, int to, const char *new_name)
{
	int error;

	if (fullio_rename_new(from, name, to, new_name))
		return true;
	if (errno != EINVAL && errno != ENOSYS)
		return false;
	if (linkat(from, name, to, new_name, 0) < 0) {
		/* EPERM, ENOSYS: no hard links, or a directory */
		if (errno == EPERM || errno == ENOSYS || errno == EOPNOTSUPP)
			errno = EINVAL;
		return false;
	}
	if (unlinkat(from, name, 0) == 0)
		return true;
	error = errno;
	unlinkat(to, new_name, 0);
	errno = error;
	return false;
}
