/* SPDX-License-Identifier: Apache-2.0 */
#include "attic.h"

#include "arena.h"
#include "inside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The folder that an open file lies in, from its name as the kernel knows it, and that one's; so links and relative names do
 * not matter. Empty: it has none (a pipe, a file that was removed). */
static bool place_of(int fd, char *path, size_t cap)
{
	char link[48];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, cap - 1);
	if (n <= 0 || (size_t)n == cap - 1 || path[0] != '/')
		return false;
	path[n] = 0;
	return true;
}

/* Cuts the last part off, and returns it. */
static struct str cut_last(char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash)
		return (struct str){ 0 };
	*slash = 0;
	return str_of(slash + 1);
}

static int find_dir(const struct in *in)
{
	char *path = mem_alloc(1, 4097);
	struct str folder;
	int fd = -1;

	if (place_of(in->fd, path, 4097)) {
		cut_last(path);
		folder = cut_last(path);
		if (str_eq(folder, STR("out")) || str_eq(folder, STR("recording")))
			fd = open(path[0] ? path : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	free(path);
	return fd;
}

void attic_open(struct attic *k, const char *dir, const struct in *in, const struct recorder *who)
{
	*k = (struct attic){ .dir = -1, .who = who };
	if (dir) {
		k->dir = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (k->dir < 0)
			die_errno("cannot look into '%s'", dir);
	} else if (who->is) {
		k->dir = find_dir(in);
	}
}

void attic_close(struct attic *k)
{
	if (k->dir >= 0)
		close(k->dir);
	k->dir = -1;
}

static int open_plain(const struct attic *k, const char *path)
{
	return inside_reopen(openat(k->dir, path, O_PATH | O_NOFOLLOW | O_CLOEXEC));
}

static int open_by_id(const struct attic *k, const struct build_id *id)
{
	char path[96];
	int n = snprintf(path, sizeof(path), "symbols/.build-id/");

	for (unsigned i = 0; i < id->n && i < BUILD_ID_MAX; i++)
		n += snprintf(path + n, sizeof(path) - (size_t)n, i ? "%02x" : "%02x/", id->byte[i]);
	snprintf(path + n, sizeof(path) - (size_t)n, ".debug");
	return open_plain(k, path);
}

int attic_binary(const struct attic *k, const struct build_id *id, const struct attic_numbers *n)
{
	char path[192];

	errno = ENOENT;
	if (k->dir < 0)
		return -1;
	if (id->n > 1)
		return open_by_id(k, id);
	if (n->inode == 0 || k->who->boot.n == 0)
		return -1;
	snprintf(path, sizeof(path), "symbols/%.*s/%x-%x-%llx-%llx", (int)k->who->boot.n, k->who->boot.p, n->major, n->minor,
		 (unsigned long long)n->inode, (unsigned long long)n->generation);
	return open_plain(k, path);
}

int attic_vdso(const struct attic *k)
{
	char path[128];

	errno = ENOENT;
	if (k->dir < 0 || k->who->boot.n == 0)
		return -1;
	snprintf(path, sizeof(path), "symbols/%.*s/vdso", (int)k->who->boot.n, k->who->boot.p);
	return open_plain(k, path);
}

void attic_name(const struct attic *k, uint32_t pid, const char *kind, char *name, size_t room)
{
	const struct pj_process *p = recorder_process(k->who, pid);

	snprintf(name, room, "jit/%.*s/%u-%llu.%s", (int)k->who->boot.n, k->who->boot.p, (unsigned)pid,
		 (unsigned long long)(p ? p->start : 0), kind);
}

int attic_jit(const struct attic *k, uint32_t pid, const char *kind)
{
	const struct pj_process *p = k->dir >= 0 ? recorder_process(k->who, pid) : NULL;
	char path[192];

	errno = ENOENT;
	if (!p || p->start == 0 || k->who->boot.n == 0)
		return -1;
	attic_name(k, pid, kind, path, sizeof(path));
	return open_plain(k, path);
}

int attic_kernel(const struct attic *k, size_t i)
{
	char path[320];

	errno = ENOENT;
	if (k->dir < 0 || i >= k->who->nkallsyms)
		return -1;
	snprintf(path, sizeof(path), "symbols/%.*s", (int)k->who->kallsyms[i].n, k->who->kallsyms[i].p);
	return open_plain(k, path);
}
