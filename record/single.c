/* SPDX-License-Identifier: Apache-2.0 */
#include "record/single.h"

#include "common/diag.h"
#include "common/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static NORETURN void single_cannot_create(const struct single *s, const char *name)
{
	if (s->place.refused[0])
		die("cannot write '%s': %s: name another file, or remove it", s->path, s->place.refused);
	die_errno("%s", name);
}

/* A FIFO whose reader is pjfold, say. */
static void open_fifo(struct single *s)
{
	if (!s->place.magic && !S_ISFIFO(s->place.st.st_mode))
		die("%s: not a file; '-o -' writes into a pipe", s->path);
	s->fd = outpath_open(&s->place, O_WRONLY);
	if (s->fd < 0)
		single_cannot_create(s, s->path);
	outpath_close(&s->place);
}

static void single_open_file(struct single *s)
{
	struct outpath *p = &s->place;
	struct text t = { 0 };

	if (!outpath_resolve(p, s->path))
		single_cannot_create(s, s->path);
	if (p->magic || (p->fd >= 0 && !S_ISREG(p->st.st_mode))) {
		open_fifo(s);
		return;
	}
	text_printf(&t, "%s.part%c", p->name, 0);
	s->part = t.p;
	unlinkat(p->folder, s->part, 0); /* left by a killed run, or planted: never opened */
	s->fd = openat(p->folder, s->part, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0640);
	if (s->fd < 0)
		single_cannot_create(s, s->part);
}

void single_open(struct single *s, const char *path)
{
	*s = (struct single){ .fd = STDOUT_FILENO, .path = path, .place = { .folder = -1, .fd = -1 } };
	if (path)
		single_open_file(s);
	else if (isatty(s->fd))
		die("a recording is nothing for a terminal: pjrecord -o - ... | pjfold, or -o FILE");
}

void single_close(struct single *s, int error)
{
	const char *name = s->path ? s->path : "standard output";

	errno = error;
	if (error)
		die_errno("%s", name);
	if (s->part && (fsync(s->fd) || renameat(s->place.folder, s->part, s->place.folder, s->place.name)))
		die_errno("%s", name);
	if (close(s->fd))
		die_errno("%s", name);
	free(s->part);
	outpath_close(&s->place);
}

void single_abandon(struct single *s)
{
	if (s->part)
		unlinkat(s->place.folder, s->part, 0);
	free(s->part);
	outpath_close(&s->place);
	if (s->path)
		close(s->fd);
}
