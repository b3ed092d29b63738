/* SPDX-License-Identifier: Apache-2.0 */
#include "common/files/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Sets *why to the reason why `path`, as the user wrote it, cannot be written, and returns -1. The text names the
 * directory as the obstacle only if the file exists and `error` is EACCES, EPERM or EROFS. */
static int outfile_cannot_create(const struct outpath *outpath, const char *path, int error,
				 struct outfile_failure *why)
{
	why->error = error;
	if (outpath->refused[0]) {
		why->error = 0;
		snprintf(why->text, sizeof(why->text), "cannot write '%s': %s: name another file, or remove it", path,
			 outpath->refused);
	} else if (outpath->fd >= 0 && (error == EACCES || error == EPERM || error == EROFS)) {
		snprintf(why->text, sizeof(why->text), "cannot replace '%s': its directory accepts no new files", path);
	} else if (outpath->linked[0]) {
		snprintf(why->text, sizeof(why->text), "cannot write '%s', a link to '%s'", path, outpath->linked);
	} else {
		snprintf(why->text, sizeof(why->text), "cannot write '%s'", path);
	}
	return -1;
}

static int outfile_create(struct outfile *outfile, const char *path, bool any, struct outfile_failure *why)
{
	struct outpath *outpath = &outfile->place;
	int fd;

	if (!outpath_resolve(outpath, path))
		return outfile_cannot_create(outpath, path, errno, why);
	if (outpath->fd >= 0 && S_ISDIR(outpath->st.st_mode))
		return outfile_cannot_create(&(struct outpath){ .fd = -1 }, path, EISDIR, why);
	if (outpath->magic || (outpath->fd >= 0 && !S_ISREG(outpath->st.st_mode))) {
		fd = any ? outpath_open(outpath, O_WRONLY) : -1;
		errno = any ? errno : EINVAL;
		return fd < 0 ? outfile_cannot_create(outpath, path, errno, why) : fd;
	}
	outfile->fd =
		tempfile_create(outpath->folder, outpath->fd >= 0 ? outpath->st.st_mode & 0777 : 0666, outfile->temp);
	if (outfile->fd < 0)
		outfile->temp[0] = 0;
	fd = outfile->fd < 0 ? -1 : fcntl(outfile->fd, F_DUPFD_CLOEXEC, 3);
	return fd < 0 ? outfile_cannot_create(outpath, path, errno, why) : fd;
}

int outfile_open(struct outfile *outfile, const char *path, bool any, struct outfile_failure *why)
{
	int fd;

	*outfile = OUTFILE_NONE;
	fd = outfile_create(outfile, path, any, why);
	if (fd < 0)
		outfile_discard(outfile);
	else if (!outfile->temp[0])
		outpath_close(&outfile->place);
	return fd;
}

bool outfile_commit(struct outfile *outfile, const char *path, struct outfile_failure *why)
{
	const char *what = "write";
	int held = tempfile_hold(outfile->fd), error = fsync(outfile->fd) < 0 ? errno : 0;

	if (close(outfile->fd) < 0 && !error) /* some file systems report a full disk only at close */
		error = errno;
	outfile->fd = -1;
	if (!error && renameat(outfile->place.folder, outfile->temp, outfile->place.folder, outfile->place.name) < 0) {
		error = errno;
		what = "replace";
	}
	if (!error)
		outfile->temp[0] = 0;
	outfile_discard(outfile);
	if (held >= 0)
		close(held);
	why->error = error;
	snprintf(why->text, sizeof(why->text), "cannot %s '%s'", what, path);
	return error == 0;
}

void outfile_unlink(const struct outfile *outfile)
{
	if (outfile->temp[0])
		unlinkat(outfile->place.folder, outfile->temp, 0);
}

void outfile_discard(struct outfile *outfile)
{
	outfile_unlink(outfile);
	outfile->temp[0] = 0;
	if (outfile->fd >= 0)
		close(outfile->fd);
	outfile->fd = -1;
	outpath_close(&outfile->place);
}
