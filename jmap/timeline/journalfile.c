/* SPDX-License-Identifier: Apache-2.0 */
#include "jmap/timeline/journalfile.h"

#include "common/clocks.h"
#include "common/formats/jmapfile.h"
#include "common/files/fullio.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- files of timelines ------------------------------------------------------------------------------------------ */

/* Starts a new run of records in the file: truncates the file to its first `complete` bytes, which are valid records,
 * and writes the first record of the run. Returns false and sets errno on failure. */
static bool journalfile_begin(struct journalfile *journalfile, off_t complete)
{
	struct text file = { 0 }, body = { 0 };
	bool good;

	if (ftruncate(journalfile->fd, complete) < 0 || lseek(journalfile->fd, complete, SEEK_SET) < 0)
		return false;
	if (complete == 0)
		text_str(&file, STR(JMAP_MAGIC));
	text_char(&body, JMAP_START);
	text_add(&body, journalfile->start);
	jmap_frame(&file, text_view(&body));
	good = fullio_write(journalfile->fd, text_view(&file));
	journalfile->written += file.n;
	journalfile->size = (uint64_t)complete + file.n;
	text_free(&file);
	text_free(&body);
	return good;
}

/* Opens or creates a file and locks it. Returns a descriptor, or -1 and errno. EINVAL: the name no longer refers to
 * that file, because another process has removed or replaced the timeline meanwhile. */
static int open_locked(int folder, const char *name)
{
	int fd = openat(folder, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0640), saved;
	struct stat status, named;

	if (fd < 0)
		return -1;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
		if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink == 1 &&
		    fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 && status.st_ino == named.st_ino)
			return fd;
		errno = EINVAL;
	}
	saved = errno;
	close(fd);
	errno = saved;
	return -1;
}

const char *journalfile_open(struct journalfile *journalfile, const char *dir, const struct jvm_process *process,
			     const struct tenant *of, const char *version)
{
	char boot[BOOT_ID + 1], tenant[TENANT_NAME];
	size_t n;
	int saved;

	*journalfile = (struct journalfile){ .fd = -1, .folder = -1 };
	if (!boot_id("/proc", boot))
		return "the id of this boot cannot be read, for";
	mapsdir_name(journalfile->file, process->pid, process->start);
	tenant_folder(of, 0, tenant);
	snprintf(journalfile->path, sizeof(journalfile->path), "%.350s/maps/%s/%s", dir, boot, journalfile->file);
	n = (size_t)snprintf(journalfile->start, sizeof(journalfile->start),
			     "boot=%s pid=%d inner=%d start=%llu tenant=%s version=", boot, (int)process->pid,
			     (int)process->inner, (unsigned long long)process->start, tenant);
	for (; *version && n + 1 < sizeof(journalfile->start); version++)
		journalfile->start[n++] = *version > ' ' && *version < 0x7f ? *version : '?';
	journalfile->folder = mapsdir_enter(dir, boot);
	journalfile->fd = journalfile->folder < 0 ? -1 : open_locked(journalfile->folder, journalfile->file);
	if (journalfile->fd >= 0 && journalfile_begin(journalfile, (off_t)jmap_complete(journalfile->fd)))
		return NULL;
	saved = errno;
	journalfile_close(journalfile, false);
	errno = saved;
	return "cannot write to";
}

#define ANEW ".anew-"

static void anew_name(const struct journalfile *journalfile, char name[MAPSDIR_NAME + 8])
{
	snprintf(name, MAPSDIR_NAME + 8, ANEW "%s", journalfile->file);
}

bool journalfile_begin_anew(struct journalfile *journalfile)
{
	char name[MAPSDIR_NAME + 8];
	int old = journalfile->fd, saved;

	anew_name(journalfile, name);
	if (journalfile->anew)
		return true;
	/* A pjmap that was killed may have left a file with the name of the new file, without a lock. */
	unlinkat(journalfile->folder, name, 0);
	journalfile->fd = open_locked(journalfile->folder, name);
	if (journalfile->fd < 0 || !journalfile_begin(journalfile, 0)) {
		saved = errno;
		if (journalfile->fd >= 0)
			close(journalfile->fd);
		journalfile->fd = old;
		errno = saved;
		return false;
	}
	close(old);
	journalfile->first_size = 0;
	return journalfile->anew = true;
}

/* Renames the new file to the name of the old file, which it replaces. To be called after the records of a complete
 * scan are in the new file. Returns false and sets errno on failure. */
static bool journalfile_take_name(struct journalfile *journalfile)
{
	char name[MAPSDIR_NAME + 8];

	anew_name(journalfile, name);
	journalfile->anew = false;
	return renameat(journalfile->folder, name, journalfile->folder, journalfile->file) == 0;
}

/* ---- appending the records of a scan ----------------------------------------------------------------------------- */

static void journalfile_mark(const struct journalfile *journalfile, uint64_t took)
{
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT } };
	uint64_t ns = clock_wall();

	ns -= took < ns ? took : 0;
	times[1] = (struct timespec){ (time_t)(ns / SECOND_NS), (long)(ns % SECOND_NS) };
	futimens(journalfile->fd, times);
}

bool journalfile_append(struct journalfile *journalfile, const struct journalfile_scan *scan, int from, uint64_t n)
{
	bool good = fullio_copy(journalfile->fd, from, n);

	/* The first scan of a restarted file is not counted: its code was counted for the old file. */
	if (!journalfile->anew) {
		journalfile->added += scan->came;
		journalfile->removed += scan->went;
	}
	journalfile->written += n;
	journalfile->size += n;
	if (good && journalfile->first_size == 0)
		journalfile->first_size = n;
	if (good && journalfile->anew)
		good = journalfile_take_name(journalfile);
	journalfile_mark(journalfile, scan->took);
	journalfile->last = scan->began + scan->took;
	return good;
}

void journalfile_close(struct journalfile *journalfile, bool ended)
{
	struct text file = { 0 }, body = { 0 };

	if (journalfile->fd >= 0 && ended) {
		text_char(&body, JMAP_END);
		jmap_number(&body, journalfile->last);
		jmap_frame(&file, text_view(&body));
		/* Ignores write errors: without this record, readers lack only the time at which the process ended. */
		fullio_write(journalfile->fd, text_view(&file));
	}
	if (journalfile->fd >= 0)
		close(journalfile->fd);
	if (journalfile->anew) {
		char name[MAPSDIR_NAME + 8];

		anew_name(journalfile, name);
		unlinkat(journalfile->folder, name, 0);
	}
	if (journalfile->folder >= 0)
		close(journalfile->folder);
	text_free(&file);
	text_free(&body);
	*journalfile = (struct journalfile){ .fd = -1, .folder = -1 };
}
