/* SPDX-License-Identifier: Apache-2.0 */
#include "record/single.h"

#include "common/diag.h"
#include "common/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* maximum number of attempts to create the unfinished file, while other recorders create and remove it */
#define ATTEMPTS 16

static NORETURN void single_cannot_create(const struct single *single)
{
	int error = errno;

	if (single->place.refused[0])
		die("cannot write '%s': %s: name another file, or remove it", single->path, single->place.refused);
	die("cannot write '%s': %s: %s", single->path, strerror(error), outpath_advice(error));
}

/* Opens an existing FIFO, from which pjfold may read, or a magic path such as /dev/fd/N (outpath.h). Exits with a
 * message for any other type of file. */
static void open_fifo(struct single *single)
{
	if (!single->place.magic && !S_ISFIFO(single->place.st.st_mode))
		die("cannot write '%s': it is a %s: %s", single->path,
		    S_ISDIR(single->place.st.st_mode) ? "directory" : "device or socket",
		    S_ISDIR(single->place.st.st_mode) ? outpath_advice(EISDIR) :
							"'-o -' is standard output, for a pipe");
	single->fd = outpath_open(&single->place, O_WRONLY);
	if (single->fd < 0)
		single_cannot_create(single);
	outpath_close(&single->place);
}

/* Exits with a message if the output is an existing file that is neither empty nor a recording, as with `-o main.c`. */
static void refuse_other_file(const struct single *single)
{
	static const char perf[] = "PERFILE2";
	char start[sizeof(perf) - 1];
	int fd = openat(single->place.folder, single->place.name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, start, sizeof(start)) : 0;

	if (fd >= 0)
		close(fd);
	if (n > 0 && memcmp(start, perf, (size_t)n) != 0)
		die("%s is not a recording, and is not replaced: remove it, or name another file", single->path);
}

/* Exits with a message if the existing file cannot be replaced at the end: a sticky folder (/tmp) of another user
 * protects it, because the recorder has given up its rights by then. */
static void refuse_sticky(const struct single *single)
{
	const struct outpath *place = &single->place;
	struct stat folder;

	if (place->fd >= 0 && fstat(place->folder, &folder) == 0 && folder.st_mode & S_ISVTX &&
	    folder.st_uid != geteuid() && place->st.st_uid != geteuid())
		die("cannot replace '%s': it belongs to user %lu, in a sticky directory: name another file",
		    single->path, (unsigned long)place->st.st_uid);
}

static NORETURN void refuse_recorded(const struct single *single)
{
	die("another pjrecord is recording into '%s': name another file (-o)", single->path);
}

/* Returns true if fd is the file that has the name of the unfinished file now. */
static bool is_part(const struct single *single, int fd)
{
	struct stat named, opened;

	return fstat(fd, &opened) == 0 &&
	       fstatat(single->place.folder, single->part, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
	       named.st_dev == opened.st_dev && named.st_ino == opened.st_ino;
}

/* Returns true if the lock of the unfinished file counts. owner: user who owns that file. In a sticky folder such as
 * /tmp, anybody can plant and lock a file, so there the lock counts only if the owner is this user, root, or the owner
 * of the folder. */
static bool may_be_recorder(const struct single *single, uid_t owner)
{
	struct stat folder;

	return owner == geteuid() || owner == 0 || fstat(single->place.folder, &folder) < 0 ||
	       !(folder.st_mode & S_ISVTX) || folder.st_uid == owner;
}

/* Removes the unfinished file that a killed run left or another user planted; the recorder never writes to such a file.
 * Exits with a message if another recorder holds its lock. Returns false if the file changed meanwhile: the caller then
 * tries again. */
static bool remove_leftover(const struct single *single)
{
	int folder = single->place.folder, fd;
	struct stat named;
	bool removed;

	if (fstatat(folder, single->part, &named, AT_SYMLINK_NOFOLLOW))
		return true;
	if (!S_ISREG(named.st_mode))
		return unlinkat(folder, single->part, 0) == 0;
	/* NFS locks only what is open for writing */
	fd = openat(folder, single->part, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 && errno == EACCES)
		die("'%s.part' belongs to user %lu, whose pjrecord may be writing it: remove it if none is, or name "
		    "another file with -o",
		    single->path, (unsigned long)named.st_uid);
	if (fd < 0)
		return false;
	if (flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK && may_be_recorder(single, named.st_uid))
		refuse_recorded(single);
	/* a recorder removes the file only while it holds the lock of the file with this name */
	removed = is_part(single, fd) && unlinkat(folder, single->part, 0) == 0;
	close(fd);
	return removed;
}

/* Creates the unfinished file and locks it until the recorder ends, so that a second recorder does not remove it.
 * Leaves single->fd negative if another recorder, which started at the same time, has removed or locked it. A file
 * system without locks is accepted: there, a second recorder is not noticed. */
static void lock_part(struct single *single)
{
	single->fd =
		openat(single->place.folder, single->part, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0640);
	if (single->fd < 0 && errno != EEXIST)
		single_cannot_create(single);
	if (single->fd < 0 ||
	    ((!flock(single->fd, LOCK_EX | LOCK_NB) || errno != EWOULDBLOCK) && is_part(single, single->fd)))
		return;
	close(single->fd);
	single->fd = -1;
	errno = EEXIST;
}

/* Replaces the unfinished file. Exits with a message on failure. */
static void create_part(struct single *single)
{
	for (int i = 0; i < ATTEMPTS && single->fd < 0; i++)
		if (remove_leftover(single) || i + 1 == ATTEMPTS)
			lock_part(single);
	if (single->fd < 0 && errno == EEXIST)
		die("'%s.part' cannot be replaced: remove it, or name another file with -o", single->path);
	if (single->fd < 0)
		single_cannot_create(single);
}

static void single_open_file(struct single *single)
{
	struct outpath *outpath = &single->place;
	struct text text = { 0 };

	if (!outpath_resolve(outpath, single->path))
		single_cannot_create(single);
	if (outpath->magic || (outpath->fd >= 0 && !S_ISREG(outpath->st.st_mode))) {
		open_fifo(single);
		return;
	}
	refuse_other_file(single);
	refuse_sticky(single);
	text_printf(&text, "%s.part%c", outpath->name, 0);
	single->part = text.p;
	single->fd = -1;
	create_part(single);
	renamer_start(&single->renamer, outpath->folder, single->part, outpath->name);
}

void single_open(struct single *single, const char *path)
{
	*single = (struct single){ .fd = STDOUT_FILENO, .path = path, .place = { .folder = -1, .fd = -1 } };
	if (path)
		single_open_file(single);
	else if (isatty(single->fd))
		die("refusing to write a recording to a terminal: use pjrecord -o - ... | pjfold, or -o FILE");
}

/* Exits with a message because the recording could not be written. error: errno. Keeps the unfinished file, which
 * pjfold can read up to its last complete record, unless it is empty. */
static NORETURN void single_fail(struct single *single, int error)
{
	struct stat status;

	errno = error;
	if (!single->part)
		die_errno("%s", single->path ? single->path : "standard output");
	if (single->temporary)
		die_errno("cannot write '%s'", single->path);
	if (fstat(single->fd, &status) == 0 && status.st_size == 0 && renamer_finish(&single->renamer, false) == 0)
		die("cannot write '%s': %s: %s", single->path, strerror(error), outpath_advice(error));
	die("cannot write '%s': %s: %s; '%s.part' keeps the samples until then, and pjfold reads it", single->path,
	    strerror(error), outpath_advice(error), single->path);
}

void single_expect(const struct single *single)
{
	struct stat named, opened;
	int gone;

	if (!single->part || fstat(single->fd, &opened) < 0)
		return;
	/* only ENOENT counts as gone: without its rights, the recorder may have no access to the folder */
	gone = fstatat(single->place.folder, single->part, &named, AT_SYMLINK_NOFOLLOW) < 0 ?
		       errno == ENOENT :
		       named.st_dev != opened.st_dev || named.st_ino != opened.st_ino;
	if (gone)
		die("another program has removed or replaced '%s.part', so the recording is lost: record again, into "
		    "another file (-o)",
		    single->path);
}

void single_close(struct single *single, int error)
{
	if (error)
		single_fail(single, error);
	if (single->part) {
		if (fsync(single->fd))
			single_fail(single, errno);
		errno = renamer_finish(&single->renamer, true);
		if (errno)
			die_errno("cannot rename '%s' to '%s'", single->part, single->path);
	}
	if (close(single->fd))
		die_errno("%s", single->path ? single->path : "standard output");
	free(single->part);
	outpath_close(&single->place);
}

void single_abandon(struct single *single)
{
	if (single->part)
		renamer_finish(&single->renamer, false);
	free(single->part);
	single->part = NULL;
	outpath_close(&single->place);
	if (single->path)
		close(single->fd);
}
