/* SPDX-License-Identifier: Apache-2.0 */
#include "common/files/outpath.h"

#include "common/arena.h"
#include "common/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/statfs.h>
#include <unistd.h>

/* limit for followed symbolic links, like MAXSYMLINKS of the kernel; a path with more is refused with ELOOP */
#define LINKS_MAX 40
/* ST_NOSYMFOLLOW in f_flags of statfs: the mount follows no symbolic links (Linux 5.10) */
#define NO_SYMLINK_FOLLOW 0x2000
#define SHARED_WRITE 022
#define AT_FLAGS (O_PATH | O_NOFOLLOW | O_CLOEXEC)

/* ---- rule for trusted entries ------------------------------------------------------------------------------------ */

static const char *kind_of(const struct stat *status)
{
	switch (status->st_mode & S_IFMT) {
	case S_IFLNK: return "link";
	case S_IFIFO: return "FIFO";
	case S_IFREG: return "file";
	case S_IFSOCK: return "socket";
	default: return "device";
	}
}

static bool outpath_refuse(struct outpath *outpath, const char *name, const struct stat *status)
{
	snprintf(outpath->refused, sizeof(outpath->refused),
		 "the %s '%.200s' of user %lu is in a directory that other users can write to", kind_of(status), name,
		 (unsigned long)status->st_uid);
	errno = EPERM;
	return false;
}

/* Returns true if no other user can have planted the entry: the folder is not shared, or this user or the folder's
 * owner owns the entry. */
static bool outpath_is_trusted(const struct stat *folder, const struct stat *entry)
{
	return !(folder->st_mode & SHARED_WRITE) || entry->st_uid == geteuid() || entry->st_uid == folder->st_uid;
}

static char *copy_of(const char *string, size_t n)
{
	/* mem_alloc returns zeroed memory, so the copy ends with a NUL */
	return memcpy(mem_alloc(1, n + 1), string, n);
}

/* ---- resolution of a path ---------------------------------------------------------------------------------------- */

struct walk {
	struct outpath *p;
	/* rest: allocation that contains the unresolved part of the path; next: start of this part */
	char *rest, *next;
	unsigned links;
};

/* Makes fd the current folder of the walk, and closes the previous one. Returns false if fd is -1. */
static bool move_to(struct walk *walk, int fd)
{
	if (fd < 0)
		return false;
	if (walk->p->folder >= 0)
		close(walk->p->folder);
	walk->p->folder = fd;
	return true;
}

static bool start_at(struct walk *walk, const char *path)
{
	if (path[0] != '/' && walk->p->folder >= 0)
		return true;
	return move_to(walk, open(path[0] == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
}

/* Continues the walk with the target of the symbolic link whose descriptor is `link`, and then with the unresolved part
 * of the path. Returns false with errno, ELOOP after LINKS_MAX links. */
static bool outpath_follow(struct walk *walk, int link)
{
	char target[PATH_MAX];
	struct text text = { 0 };
	ssize_t got = readlinkat(link, "", target, sizeof(target) - 1);

	if (got < 0)
		return false;
	target[got] = 0;
	errno = got == 0 ? ENOENT : ELOOP;
	if (got == 0 || ++walk->links > LINKS_MAX)
		return false;
	snprintf(walk->p->linked, sizeof(walk->p->linked), "%.199s", target);
	text_printf(&text, "%s%s%s%c", target, *walk->next ? "/" : "", walk->next, 0);
	free(walk->rest);
	walk->rest = walk->next = text.p;
	return start_at(walk, target);
}

/* Handles the symbolic link `name`, opened as `link` (O_PATH) and with status *status. Leaves a magic link of procfs to
 * the kernel; follows any other link if it is trusted. Returns false with errno if the link is refused. last: true if
 * the link is the last component of the path. */
static bool take_link(struct walk *walk, const char *name, int link, const struct stat *status, bool last)
{
	struct outpath *outpath = walk->p;
	struct statfs filesystem;
	struct stat folder;

	if (fstatfs(link, &filesystem) < 0 || fstat(outpath->folder, &folder) < 0)
		return false;
	if (filesystem.f_type == PROC_SUPER_MAGIC) {
		outpath->magic = last;
		return last || move_to(walk, openat(outpath->folder, name, O_PATH | O_DIRECTORY | O_CLOEXEC));
	}
	errno = ELOOP;
	if (filesystem.f_flags & NO_SYMLINK_FOLLOW)
		return false;
	return outpath_is_trusted(&folder, status) ? outpath_follow(walk, link) : outpath_refuse(outpath, name, status);
}

/* Resolves the path component `name`. last: true if it is the last component; then sets outpath->name, and outpath->fd
 * if the entry exists. Returns false with errno. */
static bool outpath_step(struct walk *walk, char *name, bool last)
{
	struct outpath *outpath = walk->p;
	struct stat status;
	bool good;
	int fd;

	/* O_DIRECTORY makes the kernel mount an automount point; O_PATH alone does not */
	if (!last && move_to(walk, openat(outpath->folder, name, AT_FLAGS | O_DIRECTORY)))
		return true;
	fd = openat(outpath->folder, name, AT_FLAGS);
	good = fd >= 0 ? fstat(fd, &status) == 0 : last && errno == ENOENT;
	if (good && fd >= 0 && S_ISLNK(status.st_mode)) {
		good = take_link(walk, name, fd, &status, last);
		last = last && outpath->magic;
	} else if (good && !last) {
		errno = ENOTDIR;
		good = false;
	} else if (good && fd >= 0) {
		outpath->fd = fd;
		outpath->st = status;
		fd = -1;
	}
	if (fd >= 0)
		close(fd);
	if (good && last)
		outpath->name = copy_of(name, strlen(name));
	return good;
}

bool outpath_resolve(struct outpath *outpath, const char *path)
{
	struct walk walk = { .p = outpath };
	struct stat status;
	bool good;

	*outpath = (struct outpath){ .folder = -1, .fd = -1 };
	walk.rest = walk.next = copy_of(path, strlen(path));
	errno = ENOENT;
	good = *path && start_at(&walk, path);
	while (good && !outpath->name) {
		char name[NAME_MAX + 1];
		size_t n;

		walk.next += strspn(walk.next, "/");
		n = strcspn(walk.next, "/");
		if (n > NAME_MAX) {
			errno = ENAMETOOLONG;
			good = false;
			break;
		}
		memcpy(name, n ? walk.next : ".", n ? n : 1); /* in "DIR/", the last component is empty and means "." */
		name[n ? n : 1] = 0;
		walk.next += n;
		good = outpath_step(&walk, name, !*walk.next);
	}
	free(walk.rest);
	if (good && fstat(outpath->folder, &status) == 0)
		outpath->shared = status.st_mode & SHARED_WRITE;
	return good;
}

void outpath_close(struct outpath *outpath)
{
	int error = errno;

	if (outpath->folder >= 0)
		close(outpath->folder);
	if (outpath->fd >= 0)
		close(outpath->fd);
	free(outpath->name);
	outpath->folder = outpath->fd = -1;
	outpath->name = NULL;
	errno = error;
}

/* ---- opening the resolved entry ---------------------------------------------------------------------------------- */

const char *outpath_advice(int error)
{
	switch (error) {
	case EACCES:
	case EPERM: return "name a file in a directory to which you may write";
	case EROFS: return "name a file on another file system";
	case ENOENT:
	case ENOTDIR: return "create its directory first, or name another file";
	case EISDIR: return "name a file in it";
	case ENOSPC:
	case EDQUOT: return "free some space, or name a file on another file system";
	default: return "name another file";
	}
}

int outpath_open(struct outpath *outpath, int flags)
{
	char self[40];
	struct stat folder;

	if (outpath->magic)
		return openat(outpath->folder, outpath->name, flags | O_CLOEXEC);
	errno = ENOENT;
	if (outpath->fd < 0 || fstat(outpath->folder, &folder) < 0)
		return -1;
	if (!outpath_is_trusted(&folder, &outpath->st) ||
	    (outpath->shared && S_ISREG(outpath->st.st_mode) &&
	     (outpath->st.st_uid != geteuid() || outpath->st.st_nlink > 1))) {
		outpath_refuse(outpath, outpath->name, &outpath->st);
		return -1;
	}
	/* opens the checked entry by its descriptor: another user may have replaced the name meanwhile */
	snprintf(self, sizeof(self), "/proc/self/fd/%d", outpath->fd);
	return open(self, flags | O_CLOEXEC);
}

static bool outpath_make_folder(const struct outpath *outpath, mode_t mode)
{
	int parent;

	if (mkdirat(outpath->folder, outpath->name, mode) < 0)
		return errno == EEXIST;
	parent = openat(outpath->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (parent >= 0) { /* a parent folder without read permission is not synced; that is no error */
		fsync(parent);
		close(parent);
	}
	return true;
}

int outpath_directory(struct outpath *outpath, const char *path, mode_t mode)
{
	size_t n = strlen(path);
	char *trimmed;
	bool good;

	while (n > 1 && path[n - 1] == '/') /* mkdir accepts "DIR/" for a new directory, outpath_resolve only "DIR" */
		n--;
	trimmed = copy_of(path, n);
	good = outpath_resolve(outpath, trimmed);
	free(trimmed);
	if (!good)
		return -1;
	if (outpath->magic)
		return openat(outpath->folder, outpath->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (outpath->fd < 0 && mode && !outpath_make_folder(outpath, mode))
		return -1;
	return openat(outpath->folder, outpath->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}
