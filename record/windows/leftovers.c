/* SPDX-License-Identifier: Apache-2.0 */
#include "record/windows/leftovers.h"

#include "common/files/listing.h"
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

/* Returns true if `name` in the folder with descriptor `space` still refers to the file fd. */
static bool leftovers_same(int space, const char *name, int fd)
{
	struct stat status, named;

	return fstat(fd, &status) == 0 && fstatat(space, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
	       status.st_ino == named.st_ino && status.st_dev == named.st_dev;
}

/* ---- removal of temporary files --------------------------------------------------------------------------------- */

/* Removes a temporary file unless a process has locked it. A new window has a temporary name until its run has locked
 * it. If this function locks the file first, the run tries another name (new_file in windowfile.c). */
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
	DIR *dir = listing_open(space);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] == '.' && str_ends(str_of(entry->d_name), STR(".tmp")))
			sweep_one(space, entry->d_name);
	if (dir)
		closedir(dir);
}

void leftovers_sweep(const struct windir *windir)
{
	sweep_dir(windir->recording);
	sweep_dir(windir->out);
	sweep_dir(windir->bad);
	tempfile_sweep(windir->dir); /* removes temporary files of pjrecord.prom, which are in DIR itself */
}

/* ---- rescue of windows ------------------------------------------------------------------------------------------ */

static void leftovers_write_why(int bad, const char *name, const char *why)
{
	char beside[60], text[300];

	snprintf(text, sizeof(text), "left by a run that was killed: %s\n", why);
	snprintf(beside, sizeof(beside), "%.40s.why", name);
	fullio_replace(bad, beside, str_of(text));
}

static void put_away(const struct leftovers *leftovers, const char *name, const char *why)
{
	if (renameat(leftovers->windir->recording, name, leftovers->windir->bad, name) < 0) {
		warn("cannot move recording/%s to bad: %s", name, strerror(errno));
		return;
	}
	leftovers_write_why(leftovers->windir->bad, name, why);
	leftovers->metrics->bad++;
	warn("recording/%s was left by a run that was killed, and %s: it is in bad/", name, why);
}

static void leftovers_rescue_window(const struct leftovers *leftovers, int fd, const char *name, uint64_t epoch)
{
	struct rescued rescued;
	const char *why = NULL;

	if (chunk_rescue(fd, &rescued, &why)) {
		if (fsync(fd) < 0)
			why = strerror(errno);
		else if (leftovers->rescued(leftovers->arg, fd, epoch, &rescued))
			return;
		else
			why = "it cannot be moved";
	} else if (rescued.samples == 0) {
		put_away(leftovers, name, why);
		return;
	}
	warn("recording/%s was left by a run that was killed, and cannot be rescued now: %s", name, why);
}

static bool leftovers_look_at(void *arg, int space, const char *name, uint64_t epoch)
{
	const struct leftovers *leftovers = arg;
	int fd = windir_file(space, name, O_RDWR);

	if (fd < 0) {
		if (errno != ENOENT)
			warn("cannot examine recording/%s: %s", name, strerror(errno));
		return true;
	}
	if (flock(fd, LOCK_EX | LOCK_NB) == 0 && leftovers_same(space, name, fd))
		leftovers_rescue_window(leftovers, fd, name, epoch);
	close(fd);
	return true;
}

void leftovers_rescue(const struct leftovers *leftovers)
{
	/* the callback moves files: POSIX allows removal of names while readdir lists them */
	windir_each(leftovers->windir->recording, leftovers_look_at, (void *)(uintptr_t)leftovers);
}
