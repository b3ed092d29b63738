/* SPDX-License-Identifier: Apache-2.0 */
#include "single.h"

#include "diag.h"
#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void open_file(struct single *s)
{
	struct text t = { 0 };
	struct stat st;

	if (stat(s->path, &st) == 0 && !S_ISREG(st.st_mode)) {
		s->fd = open(s->path, O_WRONLY | O_CLOEXEC);
		if (s->fd < 0)
			die_errno("%s", s->path);
		if (!S_ISFIFO(st.st_mode))
			die("%s: not a file; '-o -' writes into a pipe", s->path);
		return;
	}
	text_printf(&t, "%s.part", s->path);
	text_char(&t, 0);
	s->part = t.p;
	s->fd = open(s->part, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0640);
	if (s->fd < 0)
		die_errno("%s", s->part);
}

void single_open(struct single *s, const char *path)
{
	*s = (struct single){ .fd = STDOUT_FILENO, .path = path };
	if (path)
		open_file(s);
	else if (isatty(s->fd))
		die("a recording is nothing for a terminal: pjrecord -o - ... | pjfold, or -o FILE");
}

void single_close(struct single *s, int error)
{
	const char *name = s->path ? s->path : "standard output";

	errno = error;
	if (error)
		die_errno("%s", name);
	if (s->part && (fsync(s->fd) || rename(s->part, s->path)))
		die_errno("%s", name);
	if (close(s->fd))
		die_errno("%s", name);
	free(s->part);
}

void single_abandon(struct single *s)
{
	if (s->part)
		unlink(s->part);
	free(s->part);
	if (s->path)
		close(s->fd);
}
