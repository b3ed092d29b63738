/* SPDX-License-Identifier: Apache-2.0 */
#include "common/files/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Names the path that the user gave, and the folder only if that is at fault. */
static int outfile_cannot_create(const struct outpath *p, const char *path, int error, struct outfile_failure *why)
{
	why->error = error;
	if (p->refused[0]) {
		why->error = 0;
		snprintf(why->text, sizeof(why->text), "cannot write '%s': %s: name another file, or remove it", path,
			 p->refused);
	} else if (p->fd >= 0 && (error == EACCES || error == EPERM || error == EROFS)) {
		snprintf(why->text, sizeof(why->text), "cannot replace '%s': its folder takes no new files", path);
	} else if (p->linked[0]) {
		snprintf(why->text, sizeof(why->text), "cannot write '%s', a link to '%s'", path, p->linked);
	} else {
		snprintf(why->text, sizeof(why->text), "cannot write '%s'", path);
	}
	return -1;
}

static int outfile_create(struct outfile *f, const char *path, bool any, struct outfile_failure *why)
{
	struct outpath *p = &f->place;
	int fd;

	if (!outpath_resolve(p, path))
		return outfile_cannot_create(p, path, errno, why);
	if (p->fd >= 0 && S_ISDIR(p->st.st_mode))
		return outfile_cannot_create(&(struct outpath){ .fd = -1 }, path, EISDIR, why);
	if (p->magic || (p->fd >= 0 && !S_ISREG(p->st.st_mode))) {
		fd = any ? outpath_open(p, O_WRONLY) : -1;
		errno = any ? errno : EINVAL;
		return fd < 0 ? outfile_cannot_create(p, path, errno, why) : fd;
	}
	f->fd = tempfile_create(p->folder, p->fd >= 0 ? p->st.st_mode & 0777 : 0666, f->temp);
	if (f->fd < 0)
		f->temp[0] = 0;
	fd = f->fd < 0 ? -1 : fcntl(f->fd, F_DUPFD_CLOEXEC, 3);
	return fd < 0 ? outfile_cannot_create(p, path, errno, why) : fd;
}

int outfile_open(struct outfile *f, const char *path, bool any, struct outfile_failure *why)
{
	int fd;

	*f = OUTFILE_NONE;
	fd = outfile_create(f, path, any, why);
	if (fd < 0)
		outfile_discard(f);
	else if (!f->temp[0])
		outpath_close(&f->place);
	return fd;
}

bool outfile_commit(struct outfile *f, const char *path, struct outfile_failure *why)
{
	const char *what = "write";
	int held = tempfile_hold(f->fd), error = fsync(f->fd) < 0 ? errno : 0;

	if (close(f->fd) < 0 && !error) /* some file systems report a full disk only now */
		error = errno;
	f->fd = -1;
	if (!error && renameat(f->place.folder, f->temp, f->place.folder, f->place.name) < 0) {
		error = errno;
		what = "replace";
	}
	if (!error)
		f->temp[0] = 0;
	outfile_discard(f);
	if (held >= 0)
		close(held);
	why->error = error;
	snprintf(why->text, sizeof(why->text), "cannot %s '%s'", what, path);
	return error == 0;
}

void outfile_unlink(const struct outfile *f)
{
	if (f->temp[0])
		unlinkat(f->place.folder, f->temp, 0);
}

void outfile_discard(struct outfile *f)
{
	outfile_unlink(f);
	f->temp[0] = 0;
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
	outpath_close(&f->place);
}
