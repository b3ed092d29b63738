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

/* ---- the file -------------------------------------------------------------------------------------------------- */

/* A run begins behind so many bytes that are whole. */
static bool journalfile_begin(struct journalfile *t, off_t complete)
{
	struct text file = { 0 }, body = { 0 };
	bool good;

	if (ftruncate(t->fd, complete) < 0 || lseek(t->fd, complete, SEEK_SET) < 0)
		return false;
	if (complete == 0)
		text_str(&file, STR(JMAP_MAGIC));
	text_char(&body, JMAP_START);
	text_add(&body, t->start);
	jmap_frame(&file, text_view(&body));
	good = fullio_write(t->fd, text_view(&file));
	t->written += file.n;
	t->size = (uint64_t)complete + file.n;
	text_free(&file);
	text_free(&body);
	return good;
}

/* Locked, and still what the name means: who removes timelines may have been faster. */
static int open_locked(int folder, const char *name)
{
	int fd = openat(folder, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0640), saved;
	struct stat st, named;

	if (fd < 0)
		return -1;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
		if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 1 &&
		    fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 && st.st_ino == named.st_ino)
			return fd;
		errno = EINVAL;
	}
	saved = errno;
	close(fd);
	errno = saved;
	return -1;
}

const char *journalfile_open(struct journalfile *t, const char *dir, const struct jvm_process *p,
			     const struct tenant *of, const char *version)
{
	char boot[BOOT_ID + 1], tenant[TENANT_NAME];
	size_t n;
	int saved;

	*t = (struct journalfile){ .fd = -1, .folder = -1 };
	if (!boot_id("/proc", boot))
		return "the id of this boot cannot be read, for";
	mapsdir_name(t->file, p->pid, p->start);
	tenant_folder(of, 0, tenant);
	snprintf(t->path, sizeof(t->path), "%.350s/maps/%s/%s", dir, boot, t->file);
	n = (size_t)snprintf(t->start, sizeof(t->start), "boot=%s pid=%d inner=%d start=%llu tenant=%s version=", boot,
			     (int)p->pid, (int)p->inner, (unsigned long long)p->start, tenant);
	for (; *version && n + 1 < sizeof(t->start); version++)
		t->start[n++] = *version > ' ' && *version < 0x7f ? *version : '?';
	t->folder = mapsdir_enter(dir, boot);
	t->fd = t->folder < 0 ? -1 : open_locked(t->folder, t->file);
	if (t->fd >= 0 && journalfile_begin(t, (off_t)jmap_complete(t->fd)))
		return NULL;
	saved = errno;
	journalfile_close(t, false);
	errno = saved;
	return "cannot write into";
}

#define ANEW ".anew-"

static void anew_name(const struct journalfile *t, char name[MAPSDIR_NAME + 8])
{
	snprintf(name, MAPSDIR_NAME + 8, ANEW "%s", t->file);
}

bool journalfile_begin_anew(struct journalfile *t)
{
	char name[MAPSDIR_NAME + 8];
	int old = t->fd, saved;

	anew_name(t, name);
	if (t->anew)
		return true;
	unlinkat(t->folder, name, 0); /* of a run that was killed: its lock is gone */
	t->fd = open_locked(t->folder, name);
	if (t->fd < 0 || !journalfile_begin(t, 0)) {
		saved = errno;
		if (t->fd >= 0)
			close(t->fd);
		t->fd = old;
		errno = saved;
		return false;
	}
	close(old);
	t->first_size = 0;
	return t->anew = true;
}

/* What began anew is all there now. */
static bool journalfile_take_name(struct journalfile *t)
{
	char name[MAPSDIR_NAME + 8];

	anew_name(t, name);
	t->anew = false;
	return renameat(t->folder, name, t->folder, t->file) == 0;
}

/* ---- a scan ---------------------------------------------------------------------------------------------------- */

static void journalfile_mark(const struct journalfile *t, uint64_t took)
{
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT } };
	uint64_t ns = clock_wall();

	ns -= took < ns ? took : 0;
	times[1] = (struct timespec){ (time_t)(ns / SECOND_NS), (long)(ns % SECOND_NS) };
	futimens(t->fd, times);
}

bool journalfile_append(struct journalfile *t, const struct journalfile_scan *scan, int from, uint64_t n)
{
	bool good = fullio_copy(t->fd, from, n);

	if (!t->anew) { /* else it is what was there already */
		t->added += scan->came;
		t->removed += scan->went;
	}
	t->written += n;
	t->size += n;
	if (good && t->first_size == 0)
		t->first_size = n;
	if (good && t->anew)
		good = journalfile_take_name(t);
	journalfile_mark(t, scan->took);
	t->last = scan->began + scan->took;
	return good;
}

void journalfile_close(struct journalfile *t, bool ended)
{
	struct text file = { 0 }, body = { 0 };

	if (t->fd >= 0 && ended) {
		text_char(&body, JMAP_END);
		jmap_number(&body, t->last);
		jmap_frame(&file, text_view(&body));
		fullio_write(t->fd, text_view(&file)); /* without it all is known but that it ended */
	}
	if (t->fd >= 0)
		close(t->fd);
	if (t->anew) {
		char name[MAPSDIR_NAME + 8];

		anew_name(t, name);
		unlinkat(t->folder, name, 0);
	}
	if (t->folder >= 0)
		close(t->folder);
	text_free(&file);
	text_free(&body);
	*t = (struct journalfile){ .fd = -1, .folder = -1 };
}
