/* SPDX-License-Identifier: Apache-2.0 */
#include "record/windows/leftovers.h"

#include "common/diag.h"
#include "record/windows/rescue.h"
#include "common/files/tempfile.h"
#include "common/files/fullio.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Is it still what the name means, now that we have its lock? */
static bool leftovers_same(int space, const char *name, int fd)
{
	struct stat st, named;

	return fstat(fd, &st) == 0 && fstatat(space, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
	       st.st_ino == named.st_ino && st.st_dev == named.st_dev;
}

/* ---- temporaries --------------------------------------------------------------------------------------------- */

/* A window has such a name until its maker has its lock; that moment ends with our trying it, too (windows.c). */
static void sweep_one(int space, const char *name)
{
	int fd = windir_file(space, name, O_RDONLY);

	if (fd < 0)
		return;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0 && leftovers_same(space, name, fd))
		unlinkat(space, name, 0);
	close(fd);
}

static void sweep_dir(int space)
{
	int fd = openat(space, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;

	while (d && (e = readdir(d)))
		if (e->d_name[0] == '.' && str_ends(str_of(e->d_name), STR(".tmp")))
			sweep_one(space, e->d_name);
	if (d)
		closedir(d);
}

void leftovers_sweep(const struct windir *r)
{
	sweep_dir(r->recording);
	sweep_dir(r->out);
	sweep_dir(r->bad);
	tempfile_sweep(r->dir); /* of pjrecord.prom */
}

/* ---- windows ------------------------------------------------------------------------------------------------- */

static void leftovers_write_why(int bad, const char *name, const char *why)
{
	char beside[60], text[300];

	snprintf(text, sizeof(text), "left by a run that was killed: %s\n", why);
	snprintf(beside, sizeof(beside), "%.40s.why", name);
	fullio_replace(bad, beside, str_of(text));
}

static void put_away(const struct leftovers *l, const char *name, const char *why)
{
	if (renameat(l->windir->recording, name, l->windir->bad, name) < 0) {
		warn("cannot move recording/%s to bad: %s", name, strerror(errno));
		return;
	}
	leftovers_write_why(l->windir->bad, name, why);
	l->metrics->bad++;
	warn("recording/%s was left by a run that was killed, and %s: it is in bad/", name, why);
}

static void leftovers_rescue_window(const struct leftovers *l, int fd, const char *name, uint64_t epoch)
{
	struct rescued r;
	const char *why = NULL;

	if (chunk_rescue(fd, &r, &why)) {
		if (fsync(fd) < 0)
			why = strerror(errno);
		else if (l->rescued(l->arg, fd, epoch, &r))
			return;
		else
			why = "it cannot be moved";
	} else if (r.samples == 0) {
		put_away(l, name, why);
		return;
	}
	warn("recording/%s was left by a run that was killed, and cannot be rescued now: %s", name, why);
}

static bool leftovers_look_at(void *arg, int space, const char *name, uint64_t epoch)
{
	const struct leftovers *l = arg;
	int fd = windir_file(space, name, O_RDWR);

	if (fd < 0) {
		if (errno != ENOENT)
			warn("cannot look at recording/%s: %s", name, strerror(errno));
		return true;
	}
	if (flock(fd, LOCK_EX | LOCK_NB) == 0 && leftovers_same(space, name, fd))
		leftovers_rescue_window(l, fd, name, epoch);
	close(fd);
	return true;
}

void leftovers_rescue(const struct leftovers *l)
{
	/* the folder is read while names leave it, which readdir allows */
	windir_each(l->windir->recording, leftovers_look_at, (void *)(uintptr_t)l);
}
