/* SPDX-License-Identifier: Apache-2.0 */
#include "record/symsaver/saverdir.h"

#include "common/clocks.h"
#include "common/files/fullio.h"
#include "common/files/outpath.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define FOLDER (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define SHARED_WRITE 022
#define LOOK_NS 1000000000u

/* ---- folders in DIR --------------------------------------------------------------------------------------------- */

/* Opens a folder that only this user or root can write to. make: true: create the folder if necessary. Returns a
 * descriptor; -1 with errno on failure (EPERM: other users can write to it, or own it). */
static int saverdir_own_folder(int at, const char *name, bool make)
{
	struct stat status;
	int fd;

	if (make && mkdirat(at, name, 0750) < 0 && errno != EEXIST)
		return -1;
	fd = openat(at, name, FOLDER);
	if (fd < 0)
		return -1;
	if (fstat(fd, &status) == 0 && (status.st_uid == geteuid() || status.st_uid == 0) &&
	    !(status.st_mode & SHARED_WRITE))
		return fd;
	close(fd);
	errno = EPERM;
	return -1;
}

const char *saverdir_open(struct saverdir *saverdir, const char *dir, const char *proc, double min_free)
{
	struct outpath place;

	*saverdir = (struct saverdir){ .dir = -1, .symbols = -1, .jit = -1, .boot_jit = -1, .min_free = min_free };
	if (!boot_id(proc, saverdir->boot))
		return "the id of this boot cannot be read";
	saverdir->dir = outpath_directory(&place, dir, 0);
	outpath_close(&place);
	if (saverdir->dir < 0)
		return place.refused[0] ? "its path has a link that another user may have planted" : strerror(errno);
	saverdir->symbols = saverdir_own_folder(saverdir->dir, "symbols", false);
	if (saverdir->symbols < 0 && errno != ENOENT)
		return "symbols/ in it is a link, not a directory, of another user, or writable by others (chmod "
		       "go-w)";
	saverdir->jit = saverdir_own_folder(saverdir->dir, "jit", false);
	if (saverdir->jit < 0 && errno != ENOENT)
		return "jit/ in it is a link, not a directory, of another user, or writable by others (chmod go-w)";
	return NULL;
}

void saverdir_close(struct saverdir *saverdir)
{
	int *fd[] = { &saverdir->dir, &saverdir->symbols, &saverdir->jit, &saverdir->boot_jit };

	for (size_t i = 0; i < countof(fd); i++) {
		if (*fd[i] >= 0)
			close(*fd[i]);
		*fd[i] = -1;
	}
	saverbudget_close(&saverdir->budget);
}

static bool need_symbols(struct saverdir *saverdir)
{
	if (saverdir->symbols < 0)
		saverdir->symbols = saverdir_own_folder(saverdir->dir, "symbols", true);
	return saverdir->symbols >= 0;
}

int saverdir_jit(struct saverdir *saverdir)
{
	if (saverdir->jit < 0)
		saverdir->jit = saverdir_own_folder(saverdir->dir, "jit", true);
	if (saverdir->boot_jit < 0 && saverdir->jit >= 0)
		saverdir->boot_jit = saverdir_own_folder(saverdir->jit, saverdir->boot, true);
	return saverdir->boot_jit;
}

/* ---- paths below symbols/ --------------------------------------------------------------------------------------- */

void saverdir_tenant(char folder[SAVERDIR_FOLDER], const struct tenant *tenant, uint64_t mount_ns)
{
	char name[TENANT_NAME];

	tenant_folder(tenant, mount_ns, name);
	snprintf(folder, SAVERDIR_FOLDER, "tenants/%s/", name);
}

void saverdir_build_id(char path[SAVERDIR_PATH], const char *folder, const struct build_id *id)
{
	int at = snprintf(path, SAVERDIR_PATH, "%s.build-id/", folder);

	for (unsigned i = 0; i < id->n && i < BUILD_ID_MAX; i++)
		at += snprintf(path + at, SAVERDIR_PATH - (size_t)at, i ? "%02x" : "%02x/", id->byte[i]);
	snprintf(path + at, SAVERDIR_PATH - (size_t)at, ".debug");
}

void saverdir_numbers(const struct saverdir *saverdir, char path[SAVERDIR_PATH], const char *folder,
		      const struct file_id *file_id)
{
	snprintf(path, SAVERDIR_PATH, "%s%s/%x-%x-%llx-%llx", folder, saverdir->boot, file_id->major, file_id->minor,
		 (unsigned long long)file_id->inode, (unsigned long long)file_id->generation);
}

/* Creates all missing folders of a path below symbols/. Returns false with errno on failure. */
static bool make_folders(struct saverdir *saverdir, const char *path)
{
	char part[SAVERDIR_PATH];

	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		int got = (int)(slash - path);

		snprintf(part, sizeof(part), "%.*s", got, path);
		if (mkdirat(saverdir->symbols, part, 0750) < 0 && errno != EEXIST)
			return false;
	}
	return true;
}

bool saverdir_touch(struct saverdir *saverdir, const char *path)
{
	return saverdir->symbols >= 0 && utimensat(saverdir->symbols, path, NULL, AT_SYMLINK_NOFOLLOW) == 0;
}

int saverdir_read(struct saverdir *saverdir, const char *path)
{
	return openat(saverdir->symbols, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
}

/* ---- files below symbols/ --------------------------------------------------------------------------------------- */

bool saverdir_has_space(struct saverdir *saverdir, uint64_t n)
{
	uint64_t now = clock_now();
	struct statvfs v;

	if (saverdir->min_free > 0 && now - saverdir->polled_ns > LOOK_NS) {
		saverdir->polled_ns = now;
		saverdir->full = fstatvfs(saverdir->dir, &v) == 0 &&
				 (double)v.f_bavail < saverdir->min_free * (double)v.f_blocks;
	}
	if (!saverdir->full)
		saverdir->bytes += n;
	else
		errno = ENOSPC;
	return !saverdir->full;
}

bool saverdir_begin(struct saverdir *saverdir, struct saverdir_file *file)
{
	file->fd = -1;
	if (!need_symbols(saverdir) || !saverdir_has_space(saverdir, 0))
		return false;
	snprintf(file->temp, sizeof(file->temp), SAVERDIR_TEMP "%ld-%u", (long)getpid(), ++saverdir->serial);
	file->fd = openat(saverdir->symbols, file->temp, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0640);
	return file->fd >= 0;
}

void saverdir_discard(struct saverdir *saverdir, struct saverdir_file *file)
{
	int error = errno;

	if (file->fd >= 0) {
		close(file->fd);
		unlinkat(saverdir->symbols, file->temp, 0);
	}
	file->fd = -1;
	errno = error;
}

bool saverdir_link(struct saverdir *saverdir, const char *path, const char *also)
{
	return make_folders(saverdir, also) &&
	       (linkat(saverdir->symbols, path, saverdir->symbols, also, 0) == 0 || errno == EEXIST);
}

enum saverdir_likeness saverdir_compare(struct saverdir *saverdir, const struct saverdir_file *file, const char *path)
{
	static char block[2][65536];
	int fd = saverdir_read(saverdir, path);
	struct stat a, b;
	bool same = fd >= 0 && fstat(file->fd, &a) == 0 && fstat(fd, &b) == 0 && a.st_size == b.st_size;

	for (off_t at = 0; same && at < a.st_size;) {
		size_t n = (size_t)(a.st_size - at) < sizeof(block[0]) ? (size_t)(a.st_size - at) : sizeof(block[0]);

		same = fullio_pread(file->fd, block[0], n, (uint64_t)at) == n &&
		       fullio_pread(fd, block[1], n, (uint64_t)at) == n && memcmp(block[0], block[1], n) == 0;
		at += (off_t)n;
	}
	if (fd < 0)
		return SAVERDIR_NONE;
	close(fd);
	return same ? SAVERDIR_SAME : SAVERDIR_OTHER;
}

/* Syncs the folder of the file `path` and all folders above it, up to symbols/. Returns false with errno on failure. */
static bool sync_folders(const struct saverdir *saverdir, const char *path)
{
	char folder[SAVERDIR_PATH];
	const char *slash = strrchr(path, '/');
	bool good = true;

	for (; good && slash; slash = memrchr(path, '/', (size_t)(slash - path))) {
		int fd;

		snprintf(folder, sizeof(folder), "%.*s", (int)(slash - path), path);
		fd = openat(saverdir->symbols, folder, FOLDER);
		good = fd >= 0 && (fsync(fd) == 0 || errno == EINVAL);
		if (fd >= 0)
			close(fd);
	}
	return good && (fsync(saverdir->symbols) == 0 || errno == EINVAL);
}

bool saverdir_commit(struct saverdir *saverdir, struct saverdir_file *file, const char *path, const char *also)
{
	struct stat status;

	if (fsync(file->fd) < 0 || fstat(file->fd, &status) < 0 || !saverdir_link(saverdir, file->temp, path)) {
		saverdir_discard(saverdir, file);
		return false;
	}
	saverdir_discard(saverdir, file);
	saverdir->bytes += (uint64_t)status.st_blocks * 512;
	return sync_folders(saverdir, path) && (!also || saverdir_link(saverdir, path, also));
}
