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

#define LINKS_MAX 40             /* as the kernel's MAXSYMLINKS */
#define NO_SYMLINK_FOLLOW 0x2000 /* ST_NOSYMFOLLOW, Linux 5.10 */
#define SHARED_WRITE 022
#define AT_FLAGS (O_PATH | O_NOFOLLOW | O_CLOEXEC)

/* ---- the rule -------------------------------------------------------------------------------------------------- */

static const char *kind_of(const struct stat *st)
{
	switch (st->st_mode & S_IFMT) {
	case S_IFLNK: return "link";
	case S_IFIFO: return "FIFO";
	case S_IFREG: return "file";
	case S_IFSOCK: return "socket";
	default: return "device";
	}
}

static bool outpath_refuse(struct outpath *p, const char *name, const struct stat *st)
{
	snprintf(p->refused, sizeof(p->refused),
		 "the %s '%.200s' of user %lu lies in a folder that others can write to", kind_of(st), name,
		 (unsigned long)st->st_uid);
	errno = EPERM;
	return false;
}

/* True if only this user or the owner of the folder can have made the entry. */
static bool outpath_is_trusted(const struct stat *folder, const struct stat *entry)
{
	return !(folder->st_mode & SHARED_WRITE) || entry->st_uid == geteuid() || entry->st_uid == folder->st_uid;
}

static char *copy_of(const char *s, size_t n)
{
	return memcpy(mem_alloc(1, n + 1), s, n); /* of zeroed memory */
}

/* ---- resolution ------------------------------------------------------------------------------------------------ */

struct walk {
	struct outpath *p;
	char *rest, *next; /* what is left of the path: from `next` on, in the allocation `rest` */
	unsigned links;
};

/* The folder from which the walk goes on. */
static bool move_to(struct walk *w, int fd)
{
	if (fd < 0)
		return false;
	if (w->p->folder >= 0)
		close(w->p->folder);
	w->p->folder = fd;
	return true;
}

static bool start_at(struct walk *w, const char *path)
{
	if (path[0] != '/' && w->p->folder >= 0)
		return true;
	return move_to(w, open(path[0] == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
}

/* Puts the target of a link in front of the rest of the path. */
static bool outpath_follow(struct walk *w, int link)
{
	char target[PATH_MAX];
	struct text t = { 0 };
	ssize_t n = readlinkat(link, "", target, sizeof(target) - 1);

	if (n < 0)
		return false;
	target[n] = 0;
	errno = n == 0 ? ENOENT : ELOOP;
	if (n == 0 || ++w->links > LINKS_MAX)
		return false;
	snprintf(w->p->linked, sizeof(w->p->linked), "%.199s", target);
	text_printf(&t, "%s%s%s%c", target, *w->next ? "/" : "", w->next, 0);
	free(w->rest);
	w->rest = w->next = t.p;
	return start_at(w, target);
}

/* A symbolic link, opened as `link`. */
static bool take_link(struct walk *w, const char *name, int link, const struct stat *st, bool last)
{
	struct outpath *p = w->p;
	struct statfs fs;
	struct stat folder;

	if (fstatfs(link, &fs) < 0 || fstat(p->folder, &folder) < 0)
		return false;
	if (fs.f_type == PROC_SUPER_MAGIC) {
		p->magic = last;
		return last || move_to(w, openat(p->folder, name, O_PATH | O_DIRECTORY | O_CLOEXEC));
	}
	errno = ELOOP;
	if (fs.f_flags & NO_SYMLINK_FOLLOW)
		return false;
	return outpath_is_trusted(&folder, st) ? outpath_follow(w, link) : outpath_refuse(p, name, st);
}

/* One component. p->name is set once the last one is found. */
static bool outpath_step(struct walk *w, char *name, bool last)
{
	struct outpath *p = w->p;
	struct stat st;
	bool good;
	int fd;

	/* O_DIRECTORY: also mounts what is to be mounted on demand */
	if (!last && move_to(w, openat(p->folder, name, AT_FLAGS | O_DIRECTORY)))
		return true;
	fd = openat(p->folder, name, AT_FLAGS);
	good = fd >= 0 ? fstat(fd, &st) == 0 : last && errno == ENOENT;
	if (good && fd >= 0 && S_ISLNK(st.st_mode)) {
		good = take_link(w, name, fd, &st, last);
		last = last && p->magic;
	} else if (good && !last) {
		errno = ENOTDIR;
		good = false;
	} else if (good && fd >= 0) {
		p->fd = fd;
		p->st = st;
		fd = -1;
	}
	if (fd >= 0)
		close(fd);
	if (good && last)
		p->name = copy_of(name, strlen(name));
	return good;
}

bool outpath_resolve(struct outpath *p, const char *path)
{
	struct walk w = { .p = p };
	struct stat st;
	bool good;

	*p = (struct outpath){ .folder = -1, .fd = -1 };
	w.rest = w.next = copy_of(path, strlen(path));
	errno = ENOENT;
	good = *path && start_at(&w, path);
	while (good && !p->name) {
		char name[NAME_MAX + 1];
		size_t n;

		w.next += strspn(w.next, "/");
		n = strcspn(w.next, "/");
		if (n > NAME_MAX) {
			errno = ENAMETOOLONG;
			good = false;
			break;
		}
		memcpy(name, n ? w.next : ".", n ? n : 1); /* "DIR/": DIR itself */
		name[n ? n : 1] = 0;
		w.next += n;
		good = outpath_step(&w, name, !*w.next);
	}
	free(w.rest);
	if (good && fstat(p->folder, &st) == 0)
		p->shared = st.st_mode & SHARED_WRITE;
	return good;
}

void outpath_close(struct outpath *p)
{
	int error = errno;

	if (p->folder >= 0)
		close(p->folder);
	if (p->fd >= 0)
		close(p->fd);
	free(p->name);
	p->folder = p->fd = -1;
	p->name = NULL;
	errno = error;
}

/* ---- to open it ------------------------------------------------------------------------------------------------ */

int outpath_open(struct outpath *p, int flags)
{
	char self[40];
	struct stat folder;

	if (p->magic)
		return openat(p->folder, p->name, flags | O_CLOEXEC);
	errno = ENOENT;
	if (p->fd < 0 || fstat(p->folder, &folder) < 0)
		return -1;
	if (!outpath_is_trusted(&folder, &p->st) ||
	    (p->shared && S_ISREG(p->st.st_mode) && (p->st.st_uid != geteuid() || p->st.st_nlink > 1))) {
		outpath_refuse(p, p->name, &p->st);
		return -1;
	}
	/* by the descriptor: the name may mean something else meanwhile */
	snprintf(self, sizeof(self), "/proc/self/fd/%d", p->fd);
	return open(self, flags | O_CLOEXEC);
}

static bool outpath_make_folder(const struct outpath *p, mode_t mode)
{
	int parent;

	if (mkdirat(p->folder, p->name, mode) < 0)
		return errno == EEXIST;
	parent = openat(p->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (parent >= 0) { /* else it may be entered, but not read: then it cannot be synced */
		fsync(parent);
		close(parent);
	}
	return true;
}

int outpath_directory(struct outpath *p, const char *path, mode_t mode)
{
	size_t n = strlen(path);
	char *trimmed;
	bool good;

	while (n > 1 && path[n - 1] == '/') /* mkdir takes "DIR/", too */
		n--;
	trimmed = copy_of(path, n);
	good = outpath_resolve(p, trimmed);
	free(trimmed);
	if (!good)
		return -1;
	if (p->magic)
		return openat(p->folder, p->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (p->fd < 0 && mode && !outpath_make_folder(p, mode))
		return -1;
	return openat(p->folder, p->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}
