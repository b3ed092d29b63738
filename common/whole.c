/* SPDX-License-Identifier: Apache-2.0 */
#include "whole.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

bool whole_read(int fd, struct text *t, size_t most)
{
	size_t start = t->n;
	ssize_t n = fd < 0 ? -1 : 1;

	while (fd >= 0 && t->n - start < most) {
		text_room(t, 4096);
		n = read(fd, t->p + t->n, t->cap - t->n);
		if (n > 0)
			t->n += (size_t)n;
		else if (n == 0 || errno != EINTR)
			break;
	}
	if (n > 0)
		errno = EFBIG;
	return n == 0;
}

bool whole_read_at(int dir, const char *path, struct text *t, size_t most)
{
	int fd = openat(dir, path, O_RDONLY | O_CLOEXEC), error;
	bool good = whole_read(fd, t, most);

	error = errno;
	if (fd >= 0)
		close(fd);
	errno = error;
	return good;
}

bool whole_write(int fd, struct str s)
{
	while (s.n) {
		ssize_t n = write(fd, s.p, s.n);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		s = str_from(s, (size_t)n);
	}
	return true;
}
