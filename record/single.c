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

static NORETURN void single_cannot_create(const struct single *single, const char *name)
{
	if (single->place.refused[0])
		die("cannot write '%s': %s: name another file, or remove it", single->path, single->place.refused);
	die_errno("%s", name);
}

/* Opens an existing FIFO, which pjfold may be reading, for example, or a magic path (outpath.h). Exits with a message
 * for any other type of file. */
static void open_fifo(struct single *single)
{
	if (!single->place.magic && !S_ISFIFO(single->place.st.st_mode))
		die("%s: not a file; use '-o -' for a pipe", single->path);
	single->fd = outpath_open(&single->place, O_WRONLY);
	if (single->fd < 0)
		single_cannot_create(single, single->path);
	outpath_close(&single->place);
}

/* Exits with a message if the output is an existing file that is neither empty nor a recording, as `-o main.c`. */
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

static void single_open_file(struct single *single)
{
	struct outpath *outpath = &single->place;
	struct text text = { 0 };

	if (!outpath_resolve(outpath, single->path))
		single_cannot_create(single, single->path);
	if (outpath->magic || (outpath->fd >= 0 && !S_ISREG(outpath->st.st_mode))) {
		open_fifo(single);
		return;
	}
	refuse_other_file(single);
	text_printf(&text, "%s.part%c", outpath->name, 0);
	single->part = text.p;
	/* removes an unfinished file that a killed run left or another user planted; such a file is never opened */
	unlinkat(outpath->folder, single->part, 0);
	single->fd = openat(outpath->folder, single->part, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0640);
	if (single->fd < 0)
		single_cannot_create(single, single->part);
}

void single_open(struct single *single, const char *path)
{
	*single = (struct single){ .fd = STDOUT_FILENO, .path = path, .place = { .folder = -1, .fd = -1 } };
	if (path)
		single_open_file(single);
	else if (isatty(single->fd))
		die("refusing to write a recording to a terminal: use pjrecord -o - ... | pjfold, or -o FILE");
}

/* Renames an existing perf.data to perf.data.old before the new file takes its name, as perf record does. A file of
 * another name, which the user chose, is replaced. */
static void keep_old(const struct single *single)
{
	static const char name[] = "perf.data", old[] = "perf.data.old";

	if (strcmp(single->place.name, name) == 0 && renameat(single->place.folder, name, single->place.folder, old) &&
	    errno != ENOENT)
		warn("the former %s is not kept as %s: %s", name, old, strerror(errno));
}

void single_close(struct single *single, int error)
{
	const char *name = single->path ? single->path : "standard output";

	errno = error;
	if (error)
		die_errno("%s", name);
	if (single->part && fsync(single->fd))
		die_errno("%s", name);
	if (single->part)
		keep_old(single);
	if (single->part && renameat(single->place.folder, single->part, single->place.folder, single->place.name))
		die_errno("%s", name);
	if (close(single->fd))
		die_errno("%s", name);
	free(single->part);
	outpath_close(&single->place);
}

void single_abandon(struct single *single)
{
	if (single->part)
		unlinkat(single->place.folder, single->part, 0);
	free(single->part);
	outpath_close(&single->place);
	if (single->path)
		close(single->fd);
}
