/* SPDX-License-Identifier: Apache-2.0 */
#include "record/single.h"

#include "common/diag.h"
#include "common/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
	/* removes an unfinished file that a killed run left or another user planted; the recorder never opens such a
	 * file */
	unlinkat(outpath->folder, single->part, 0);
	single->fd = openat(outpath->folder, single->part, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0640);
	if (single->fd < 0)
		single_cannot_create(single);
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

void single_close(struct single *single, int error)
{
	const char *name = single->path ? single->path : "standard output";

	errno = error;
	if (error)
		die_errno("%s", name);
	if (single->part) {
		if (fsync(single->fd))
			die_errno("%s", name);
		errno = renamer_finish(&single->renamer, true);
		if (errno)
			die_errno("cannot rename '%s' to '%s'", single->part, name);
	}
	if (close(single->fd))
		die_errno("%s", name);
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
