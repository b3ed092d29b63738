/* SPDX-License-Identifier: Apache-2.0 */
#include "attic.h"

#include "arena.h"
#include "hash.h"
#include "inside.h"
#include "tenants.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
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

/* N of kallsyms-BOOT.N.gz; 0: it is none of these. */
static uint64_t snapshot_number(struct str name, struct str boot)
{
	uint64_t n;

	if (!str_starts(name, STR("kallsyms-")) || !str_ends(name, STR(".gz")))
		return 0;
	name = str_from(str_head(name, name.n - 3), strlen("kallsyms-"));
	if (!str_starts(name, boot) || name.n <= boot.n + 1 || name.p[boot.n] != '.')
		return 0;
	return str_u64(str_from(name, boot.n + 1), &n) ? n : 0;
}

static void take_snapshot(struct attic *k, uint64_t n)
{
	size_t i;

	for (i = 0; i < k->nkernels; i++)
		if (n > k->kernel[i]) {
			uint64_t older = k->kernel[i];

			k->kernel[i] = n;
			n = older;
		}
	if (i < countof(k->kernel))
		k->kernel[k->nkernels++] = n;
}

/* A recorder that was killed could not say which it needed: those of its boot, the newest first. */
static void find_snapshots(struct attic *k)
{
	int fd = openat(k->dir, "symbols", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *e;
	uint64_t n;

	if (!dir && fd >= 0)
		close(fd);
	while (dir && (e = readdir(dir)))
		if ((n = snapshot_number(str_of(e->d_name), k->who->boot)))
			take_snapshot(k, n);
	if (dir)
		closedir(dir);
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
	if (k->dir >= 0 && who->boot.n && who->nkallsyms == 0)
		find_snapshots(k);
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

/* "tenants/NAME/" of a process; of several, as it changed in the window, number i. False: no more. */
static bool tenant_of_pid(const struct attic *k, uint32_t pid, size_t i, char folder[TENANT_NAME + 16])
{
	const struct pj_process *p = recorder_process_at(k->who, pid, i);
	struct tenant of = { p ? (enum tenant_kind)p->tenant_kind : TENANT_UNKNOWN, p ? p->tenant : 0 };
	char name[TENANT_NAME];

	folder[0] = 0;
	if (!p)
		return false;
	tenant_folder(&of, p->mount_ns, name);
	snprintf(folder, TENANT_NAME + 16, "tenants/%s/", name);
	return true;
}

static int open_by_id(const struct attic *k, const char *folder, const struct build_id *id)
{
	char path[192];
	int n = snprintf(path, sizeof(path), "symbols/%s.build-id/", folder);

	for (unsigned i = 0; i < id->n && i < BUILD_ID_MAX; i++)
		n += snprintf(path + n, sizeof(path) - (size_t)n, i ? "%02x" : "%02x/", id->byte[i]);
	snprintf(path + n, sizeof(path) - (size_t)n, ".debug");
	return open_plain(k, path);
}

static int open_by_numbers(const struct attic *k, const char *folder, const struct attic_numbers *n)
{
	char path[256];

	snprintf(path, sizeof(path), "symbols/%s%.*s/%x-%x-%llx-%llx", folder, (int)k->who->boot.n, k->who->boot.p, n->major, n->minor,
		 (unsigned long long)n->inode, (unsigned long long)n->generation);
	return open_plain(k, path);
}

static int open_in(const struct attic *k, const char *folder, const struct build_id *id, const struct attic_numbers *n)
{
	return id->n > 1 ? open_by_id(k, folder, id) : open_by_numbers(k, folder, n);
}

static bool is_askable(const struct attic *k, const struct build_id *id, const struct attic_numbers *n)
{
	errno = ENOENT;
	return k->dir >= 0 && (id->n > 1 || (n->inode && k->who->boot.n));
}

int attic_unclaimed(const struct attic *k, uint32_t pid, const struct build_id *id, const struct attic_numbers *n)
{
	int tenants = is_askable(k, id, n) && !recorder_process_at(k->who, pid, 0) ?
			      openat(k->dir, "symbols/tenants", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
	DIR *dir = tenants >= 0 ? fdopendir(tenants) : NULL;
	struct stat found = { 0 }, st;
	struct dirent *e;
	int fd = -1, one;

	while (dir && (e = readdir(dir))) {
		char folder[sizeof("tenants/") + TENANT_NAME];

		if (e->d_name[0] == '.' || strlen(e->d_name) >= TENANT_NAME)
			continue;
		snprintf(folder, sizeof(folder), "tenants/%.*s/", TENANT_NAME - 1, e->d_name);
		one = open_in(k, folder, id, n);
		if (one < 0 || fstat(one, &st) < 0)
			continue;
		if (fd < 0) {
			fd = one;
			found = st;
			continue;
		}
		close(one);
		if (st.st_ino != found.st_ino) { /* nothing tells which is the right one */
			close(fd);
			fd = -1;
			break;
		}
	}
	if (dir)
		closedir(dir);
	errno = fd < 0 ? ENOENT : 0;
	return fd;
}

int attic_binary(const struct attic *k, uint32_t pid, const struct build_id *id, const struct attic_numbers *n)
{
	char folder[TENANT_NAME + 16] = "";
	size_t i = 0;
	int fd;

	if (!is_askable(k, id, n))
		return -1;
	do
		fd = open_in(k, folder, id, n);
	while (fd < 0 && tenant_of_pid(k, pid, i++, folder));
	/* numbers are the kernel's, so another tenant's file with these is this one */
	return fd < 0 && id->n < 2 ? attic_unclaimed(k, pid, id, n) : fd;
}

/* Which file that is; takes fd, which may be -1: 0. */
static uint64_t inode_of(int fd)
{
	struct stat st = { 0 };

	if (fd < 0)
		return 0;
	fstat(fd, &st);
	close(fd);
	return st.st_ino;
}

struct attic_origin attic_origin(const struct attic *k, uint32_t pid, const struct build_id *id, const struct attic_numbers *n)
{
	struct attic_origin origin = { .file = inode_of(attic_binary(k, pid, id, n)) };
	char own[TENANT_NAME + 16];

	if (!recorder_elsewhere(k->who, pid))
		return origin;
	tenant_of_pid(k, pid, 0, own);
	origin.tenant = hash_bytes(own, strlen(own)) | 1;
	return origin;
}

bool attic_conflicts(const struct attic *k, uint32_t pid, const struct build_id *id)
{
	char own[TENANT_NAME + 16];
	uint64_t mine, all, shared;

	if (k->dir < 0 || id->n < 2)
		return false;
	mine = tenant_of_pid(k, pid, 0, own) ? inode_of(open_by_id(k, own, id)) : 0;
	all = inode_of(open_by_id(k, "", id));
	shared = inode_of(open_by_id(k, "shared/", id));
	return mine && ((all && all != mine) || (shared && shared != mine));
}

struct build_id attic_build(const struct attic *k, const struct attic_numbers *n)
{
	const struct pj_build_id *told = recorder_file(k->who, n->major, n->minor, n->inode, n->generation);
	struct build_id id = { .n = told ? told->size : 0 };

	if (told)
		memcpy(id.byte, told->id, sizeof(told->id));
	return id;
}

bool attic_is_program(const struct attic *k, uint32_t pid, const struct attic_numbers *n)
{
	int fd = attic_binary(k, pid, &(struct build_id){ 0 }, n);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
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

/* jit/BOOT/FOLDER/PID-START.KIND; without a folder that of earlier versions. */
static void jit_name(const struct attic *k, const char *folder, uint32_t pid, const char *kind, char *name, size_t room)
{
	const struct pj_process *p = recorder_process(k->who, pid);

	snprintf(name, room, "jit/%.*s/%s%s%u-%llu.%s", (int)k->who->boot.n, k->who->boot.p, folder, folder[0] ? "/" : "", (unsigned)pid,
		 (unsigned long long)(p ? p->start : 0), kind);
}

/* The folder in which a copy is: a process may have had another tenant when it started to write than in the window. False: in none. */
static bool find_jit(const struct attic *k, uint32_t pid, const char *kind, char folder[TENANT_NAME])
{
	char path[128];
	struct dirent *e;
	bool found = false;
	DIR *dir;
	int fd;

	snprintf(path, sizeof(path), "jit/%.*s", (int)k->who->boot.n, k->who->boot.p);
	fd = openat(k->dir, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	dir = fd >= 0 ? fdopendir(fd) : NULL;
	if (!dir && fd >= 0)
		close(fd);
	while (dir && !found && (e = readdir(dir))) {
		char name[256];

		if (e->d_name[0] == '.' || strlen(e->d_name) >= TENANT_NAME)
			continue;
		snprintf(folder, TENANT_NAME, "%.*s", TENANT_NAME - 1, e->d_name);
		jit_name(k, folder, pid, kind, name, sizeof(name));
		found = faccessat(k->dir, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
	}
	if (dir)
		closedir(dir);
	return found;
}

void attic_name(const struct attic *k, uint32_t pid, const char *kind, char *name, size_t room)
{
	char folder[TENANT_NAME];

	jit_name(k, find_jit(k, pid, kind, folder) ? folder : "", pid, kind, name, room);
}

int attic_jit(const struct attic *k, uint32_t pid, const char *kind)
{
	const struct pj_process *p = k->dir >= 0 ? recorder_process(k->who, pid) : NULL;
	char path[256], folder[TENANT_NAME];
	struct tenant of;
	int fd;

	errno = ENOENT;
	if (!p || p->start == 0 || k->who->boot.n == 0)
		return -1;
	of = (struct tenant){ (enum tenant_kind)p->tenant_kind, p->tenant };
	tenant_folder(&of, p->mount_ns, folder);
	jit_name(k, folder, pid, kind, path, sizeof(path));
	fd = open_plain(k, path);
	if (fd >= 0 || errno != ENOENT)
		return fd;
	attic_name(k, pid, kind, path, sizeof(path));
	return open_plain(k, path);
}

size_t attic_kernels(const struct attic *k)
{
	return k->who->nkallsyms ? k->who->nkallsyms : k->nkernels;
}

int attic_kernel(const struct attic *k, size_t i)
{
	char path[320];

	errno = ENOENT;
	if (k->dir < 0 || i >= attic_kernels(k))
		return -1;
	if (i >= k->who->nkallsyms)
		snprintf(path, sizeof(path), "symbols/kallsyms-%.*s.%llu.gz", (int)k->who->boot.n, k->who->boot.p,
			 (unsigned long long)k->kernel[i]);
	else
		snprintf(path, sizeof(path), "symbols/%.*s", (int)k->who->kallsyms[i].n, k->who->kallsyms[i].p);
	return open_plain(k, path);
}
