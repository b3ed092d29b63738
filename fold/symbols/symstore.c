/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/symbols/symstore.h"

#include "common/arena.h"
#include "fold/symbols/symstoreindex.h"
#include "common/filter/broker.h"
#include "common/hash.h"
#include "common/process/tenants.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Cuts the last part off, and returns it. */
static struct str symstore_cut_last(char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash)
		return (struct str){ 0 };
	*slash = 0;
	return str_of(slash + 1);
}

/* By the path of the open file as the kernel has it, so that links and relative paths do not matter. Pipes have none.
 */
static int find_dir(const struct in *in)
{
	struct text path = { 0 };
	struct str folder;
	int fd = -1;

	if (broker_path(in->fd, &path) && path.p[0] == '/') {
		symstore_cut_last(path.p);
		folder = symstore_cut_last(path.p);
		if (str_eq(folder, STR("out")) || str_eq(folder, STR("recording")))
			fd = broker_open(AT_FDCWD, path.p[0] ? path.p : "/", O_DIRECTORY);
	}
	text_free(&path);
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

static void take_snapshot(struct symstore *k, uint64_t n)
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
static void find_snapshots(struct symstore *k)
{
	int fd = broker_open(k->dir, "symbols", O_DIRECTORY | O_NOFOLLOW);
	struct text names = { 0 };
	struct str left;

	if (fd < 0)
		return;
	broker_names(fd, &names);
	close(fd);
	for (left = text_view(&names); left.n;) {
		uint64_t n = snapshot_number(str_cut(&left, 0), k->who->boot);

		if (n)
			take_snapshot(k, n);
	}
	text_free(&names);
}

static void list_jit_folders(struct symstore *k)
{
	char path[128];
	int fd;

	if (!k->who->boot.n)
		return;
	snprintf(path, sizeof(path), "jit/%.*s", (int)k->who->boot.n, k->who->boot.p);
	fd = broker_open(k->dir, path, O_DIRECTORY | O_NOFOLLOW);
	if (fd < 0)
		return;
	broker_names(fd, &k->jit_folders);
	close(fd);
}

void symstore_open(struct symstore *k, const char *dir, const struct in *in, const struct recorder *who)
{
	*k = (struct symstore){ .dir = -1, .who = who };
	if (dir) {
		k->dir = broker_open(AT_FDCWD, dir, O_DIRECTORY);
		if (k->dir < 0)
			die_errno("cannot look into '%s'", dir);
	} else if (who->is) {
		k->dir = find_dir(in);
	}
	if (k->dir >= 0) {
		k->index = symstoreindex_new(k->dir);
		list_jit_folders(k);
	}
	if (k->dir >= 0 && who->boot.n && who->nkallsyms == 0)
		find_snapshots(k);
}

void symstore_close(struct symstore *k)
{
	symstoreindex_free(k->index);
	text_free(&k->jit_folders);
	if (k->dir >= 0)
		close(k->dir);
	*k = (struct symstore){ .dir = -1 };
}

static int open_plain(const struct symstore *k, const char *path)
{
	return broker_open(k->dir, path, O_NOFOLLOW);
}

/* "tenants/NAME/" of a process; of several, as it changed in the window, number i. False: no more. */
static bool tenant_of_pid(const struct symstore *k, uint32_t pid, size_t i, char folder[TENANT_NAME + 16])
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

enum { BINARY_PATH = 256 };

static const char *path_of_id(char path[BINARY_PATH], const char *folder, const struct build_id *id)
{
	int n = snprintf(path, BINARY_PATH, "symbols/%s.build-id/", folder);

	for (unsigned i = 0; i < id->n && i < BUILD_ID_MAX; i++)
		n += snprintf(path + n, BINARY_PATH - (size_t)n, i ? "%02x" : "%02x/", id->byte[i]);
	snprintf(path + n, BINARY_PATH - (size_t)n, ".debug");
	return path;
}

static const char *path_in(const struct symstore *k, char path[BINARY_PATH], const char *folder,
			   const struct build_id *id, const struct symstore_numbers *n)
{
	if (id->n > 1)
		return path_of_id(path, folder, id);
	snprintf(path, BINARY_PATH, "symbols/%s%.*s/%x-%x-%llx-%llx", folder, (int)k->who->boot.n, k->who->boot.p,
		 n->major, n->minor, (unsigned long long)n->inode, (unsigned long long)n->generation);
	return path;
}

static bool is_askable(const struct symstore *k, const struct build_id *id, const struct symstore_numbers *n)
{
	errno = ENOENT;
	return k->dir >= 0 && (id->n > 1 || (n->inode && k->who->boot.n));
}

int symstore_unclaimed(const struct symstore *k, uint32_t pid, const struct build_id *id,
		       const struct symstore_numbers *n)
{
	int tenants = is_askable(k, id, n) && !recorder_process_at(k->who, pid, 0) ?
			      broker_open(k->dir, "symbols/tenants", O_DIRECTORY | O_NOFOLLOW) :
			      -1;
	struct stat found = { 0 }, st;
	struct text names = { 0 };
	struct str left = { 0 };
	char path[BINARY_PATH];
	int fd = -1, one;

	if (tenants >= 0) {
		broker_names(tenants, &names);
		close(tenants);
		left = text_view(&names);
	}
	while (left.n) {
		char folder[sizeof("tenants/") + TENANT_NAME];
		struct str name = str_cut(&left, 0);

		if (name.n == 0 || name.p[0] == '.' || name.n >= TENANT_NAME)
			continue;
		snprintf(folder, sizeof(folder), "tenants/%.*s/", (int)name.n, name.p);
		one = symstoreindex_open(k->index, path_in(k, path, folder, id, n));
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
	text_free(&names);
	errno = fd < 0 ? ENOENT : 0;
	return fd;
}

/* The inode of the file that is kept for that process, and its path; 0: there is none. */
static uint64_t find_binary(const struct symstore *k, uint32_t pid, const struct build_id *id,
			    const struct symstore_numbers *n, char path[BINARY_PATH])
{
	char folder[TENANT_NAME + 16] = "";
	uint64_t inode;
	size_t i = 0;

	do
		inode = symstoreindex_inode(k->index, path_in(k, path, folder, id, n));
	while (!inode && tenant_of_pid(k, pid, i++, folder));
	return inode;
}

int symstore_binary(const struct symstore *k, uint32_t pid, const struct build_id *id, const struct symstore_numbers *n)
{
	char path[BINARY_PATH];

	if (!is_askable(k, id, n))
		return -1;
	if (find_binary(k, pid, id, n, path))
		return open_plain(k, path);
	errno = ENOENT;
	/* numbers are the kernel's, so another tenant's file with these is this one */
	return id->n < 2 ? symstore_unclaimed(k, pid, id, n) : -1;
}

/* Which file that is; takes fd, which may be -1: 0. */
static uint64_t symstore_inode_of(int fd)
{
	struct stat st = { 0 };

	if (fd < 0)
		return 0;
	fstat(fd, &st);
	close(fd);
	return st.st_ino;
}

static uint64_t inode_of_binary(const struct symstore *k, uint32_t pid, const struct build_id *id,
				const struct symstore_numbers *n)
{
	char path[BINARY_PATH];
	uint64_t inode = is_askable(k, id, n) ? find_binary(k, pid, id, n, path) : 0;

	return inode || id->n > 1 ? inode : symstore_inode_of(symstore_unclaimed(k, pid, id, n));
}

struct symstore_origin symstore_origin(const struct symstore *k, uint32_t pid, const struct build_id *id,
				       const struct symstore_numbers *n)
{
	struct symstore_origin origin = { .file = inode_of_binary(k, pid, id, n) };
	char own[TENANT_NAME + 16];

	if (!recorder_elsewhere(k->who, pid))
		return origin;
	tenant_of_pid(k, pid, 0, own);
	origin.tenant = hash_bytes(own, strlen(own)) | 1;
	return origin;
}

bool symstore_conflicts(const struct symstore *k, uint32_t pid, const struct build_id *id)
{
	char own[TENANT_NAME + 16], path[BINARY_PATH];
	uint64_t mine, all, shared;

	if (k->dir < 0 || id->n < 2)
		return false;
	mine = tenant_of_pid(k, pid, 0, own) ? symstoreindex_inode(k->index, path_of_id(path, own, id)) : 0;
	all = symstoreindex_inode(k->index, path_of_id(path, "", id));
	shared = symstoreindex_inode(k->index, path_of_id(path, "shared/", id));
	return mine && ((all && all != mine) || (shared && shared != mine));
}

struct build_id symstore_build(const struct symstore *k, const struct symstore_numbers *n)
{
	const struct pj_build_id *reported = recorder_file(k->who, n->major, n->minor, n->inode, n->generation);
	struct build_id id = { .n = reported ? reported->size : 0 };

	if (reported)
		memcpy(id.byte, reported->id, sizeof(reported->id));
	return id;
}

bool symstore_is_program(const struct symstore *k, uint32_t pid, const struct symstore_numbers *n)
{
	return inode_of_binary(k, pid, &(struct build_id){ 0 }, n);
}

int symstore_vdso(const struct symstore *k)
{
	char path[128];

	errno = ENOENT;
	if (k->dir < 0 || k->who->boot.n == 0)
		return -1;
	snprintf(path, sizeof(path), "symbols/%.*s/vdso", (int)k->who->boot.n, k->who->boot.p);
	return open_plain(k, path);
}

/* jit/BOOT/FOLDER/PID-START.KIND; without a folder that of earlier versions. */
static void jit_name(const struct symstore *k, const char *folder, uint32_t pid, const char *kind, char *name,
		     size_t space)
{
	const struct pj_process *p = recorder_process(k->who, pid);

	snprintf(name, space, "jit/%.*s/%s%s%u-%llu.%s", (int)k->who->boot.n, k->who->boot.p, folder,
		 folder[0] ? "/" : "", (unsigned)pid, (unsigned long long)(p ? p->start : 0), kind);
}

/* The folder in which a copy is: a process may have had another tenant when it started to write than in the window.
 * False: in none. */
static bool find_jit(const struct symstore *k, uint32_t pid, const char *kind, char folder[TENANT_NAME])
{
	bool found = false;

	for (struct str left = text_view(&k->jit_folders); left.n && !found;) {
		struct str one = str_cut(&left, 0);
		char name[256];

		if (one.n == 0 || one.p[0] == '.' || one.n >= TENANT_NAME)
			continue;
		snprintf(folder, TENANT_NAME, "%.*s", (int)one.n, one.p);
		jit_name(k, folder, pid, kind, name, sizeof(name));
		found = symstoreindex_inode(k->index, name);
	}
	return found;
}

void symstore_name(const struct symstore *k, uint32_t pid, const char *kind, char *name, size_t space)
{
	char folder[TENANT_NAME];

	jit_name(k, find_jit(k, pid, kind, folder) ? folder : "", pid, kind, name, space);
}

int symstore_jit(const struct symstore *k, uint32_t pid, const char *kind)
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
	fd = symstoreindex_open(k->index, path);
	if (fd >= 0 || errno != ENOENT)
		return fd;
	symstore_name(k, pid, kind, path, sizeof(path));
	return symstoreindex_open(k->index, path);
}

size_t symstore_kernels(const struct symstore *k)
{
	return k->who->nkallsyms ? k->who->nkallsyms : k->nkernels;
}

int symstore_kernel(const struct symstore *k, size_t i)
{
	char path[320];

	errno = ENOENT;
	if (k->dir < 0 || i >= symstore_kernels(k))
		return -1;
	if (i >= k->who->nkallsyms)
		snprintf(path, sizeof(path), "symbols/kallsyms-%.*s.%llu.gz", (int)k->who->boot.n, k->who->boot.p,
			 (unsigned long long)k->kernel[i]);
	else
		snprintf(path, sizeof(path), "symbols/%.*s", (int)k->who->kallsyms[i].n, k->who->kallsyms[i].p);
	return open_plain(k, path);
}
