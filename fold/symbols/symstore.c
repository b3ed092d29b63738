/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/symbols/symstore.h"

#include "common/arena.h"
#include "fold/symbols/symstoreindex.h"
#include "common/filter/broker.h"
#include "common/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Cuts the last component off a path, and returns this component. */
static struct str symstore_cut_last(char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash)
		return (struct str){ 0 };
	*slash = 0;
	return str_of(slash + 1);
}

/* Opens the DIR of a window. Derives DIR from the path of the open window in /proc/self/fd, so that links and relative
 * paths have no influence. Returns -1 for a pipe, which has no path, and for a file that is not in DIR/out or
 * DIR/recording. */
static int find_dir(const struct in *input)
{
	struct text path = { 0 };
	struct str folder;
	int fd = -1;

	if (broker_path(input->fd, &path) && path.p[0] == '/') {
		symstore_cut_last(path.p);
		folder = symstore_cut_last(path.p);
		if (str_eq(folder, STR("out")) || str_eq(folder, STR("recording")))
			fd = broker_open(AT_FDCWD, path.p[0] ? path.p : "/", O_DIRECTORY);
	}
	text_free(&path);
	return fd;
}

/* Returns the number N of a file name kallsyms-BOOT.N.gz; 0 for other names. */
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

static void take_snapshot(struct symstore *symstore, uint64_t n)
{
	size_t i;

	for (i = 0; i < symstore->nkernels; i++)
		if (n > symstore->kernel[i]) {
			uint64_t older = symstore->kernel[i];

			symstore->kernel[i] = n;
			n = older;
		}
	if (i < countof(symstore->kernel))
		symstore->kernel[symstore->nkernels++] = n;
}

/* Sets the numbers of the kallsyms snapshots of the window's boot, newest first. Used for the window of a killed
 * recorder, which has no list of snapshots. */
static void find_snapshots(struct symstore *symstore)
{
	int fd = broker_open(symstore->dir, "symbols", O_DIRECTORY | O_NOFOLLOW);
	struct text names = { 0 };
	struct str left;

	if (fd < 0)
		return;
	broker_names(fd, &names);
	close(fd);
	for (left = text_view(&names); left.n;) {
		uint64_t n = snapshot_number(str_cut(&left, 0), symstore->who->boot);

		if (n)
			take_snapshot(symstore, n);
	}
	text_free(&names);
}

static void list_jit_folders(struct symstore *symstore)
{
	char path[128];
	int fd;

	if (!symstore->who->boot.n)
		return;
	snprintf(path, sizeof(path), "jit/%.*s", (int)symstore->who->boot.n, symstore->who->boot.p);
	fd = broker_open(symstore->dir, path, O_DIRECTORY | O_NOFOLLOW);
	if (fd < 0)
		return;
	broker_names(fd, &symstore->jit_folders);
	close(fd);
}

void symstore_open(struct symstore *symstore, const char *dir, const struct in *input, const struct recorder *who)
{
	*symstore = (struct symstore){ .dir = -1, .who = who };
	if (dir) {
		symstore->dir = broker_open(AT_FDCWD, dir, O_DIRECTORY);
		if (symstore->dir < 0)
			die_errno("cannot list '%s'", dir);
	} else if (who->is) {
		symstore->dir = find_dir(input);
	}
	if (symstore->dir >= 0) {
		symstore->index = symstoreindex_new(symstore->dir);
		list_jit_folders(symstore);
	}
	if (symstore->dir >= 0 && who->boot.n && who->nkallsyms == 0)
		find_snapshots(symstore);
}

void symstore_close(struct symstore *symstore)
{
	symstoreindex_free(symstore->index);
	text_free(&symstore->jit_folders);
	if (symstore->dir >= 0)
		close(symstore->dir);
	*symstore = (struct symstore){ .dir = -1 };
}

static int open_plain(const struct symstore *symstore, const char *path)
{
	return broker_open(symstore->dir, path, O_NOFOLLOW);
}

/* Writes "tenants/NAME/" for the i-th tenant, from 0, that process `pid` had in the window to `folder`. Returns false
 * if the process had fewer tenants. */
static bool tenant_of_pid(const struct symstore *symstore, uint32_t pid, size_t i, char folder[SYMSTORE_TENANT])
{
	const struct pj_process *process = recorder_process_at(symstore->who, pid, i);
	struct tenant tenant = { process ? (enum tenant_kind)process->tenant_kind : TENANT_UNKNOWN,
				 process ? process->tenant : 0 };
	char name[TENANT_NAME];

	folder[0] = 0;
	if (!process)
		return false;
	tenant_folder(&tenant, process->mount_ns, name);
	snprintf(folder, SYMSTORE_TENANT, "tenants/%s/", name);
	return true;
}

enum { BINARY_PATH = 256 };

static const char *path_of_id(char path[BINARY_PATH], const char *folder, const struct build_id *id)
{
	int got = snprintf(path, BINARY_PATH, "symbols/%s.build-id/", folder);

	for (unsigned i = 0; i < id->n && i < BUILD_ID_MAX; i++)
		got += snprintf(path + got, BINARY_PATH - (size_t)got, i ? "%02x" : "%02x/", id->byte[i]);
	snprintf(path + got, BINARY_PATH - (size_t)got, ".debug");
	return path;
}

static const char *path_in(const struct symstore *symstore, char path[BINARY_PATH], const char *folder,
			   const struct build_id *id, const struct file_id *numbers)
{
	if (id->n > 1)
		return path_of_id(path, folder, id);
	snprintf(path, BINARY_PATH, "symbols/%s%.*s/%x-%x-%llx-%llx", folder, (int)symstore->who->boot.n,
		 symstore->who->boot.p, numbers->major, numbers->minor, (unsigned long long)numbers->inode,
		 (unsigned long long)numbers->generation);
	return path;
}

static bool is_askable(const struct symstore *symstore, const struct build_id *id, const struct file_id *numbers)
{
	errno = ENOENT;
	return symstore->dir >= 0 && (id->n > 1 || (numbers->inode && symstore->who->boot.n));
}

int symstore_unclaimed(const struct symstore *symstore, uint32_t pid, const struct build_id *id,
		       const struct file_id *numbers)
{
	int tenants = is_askable(symstore, id, numbers) && !recorder_process_at(symstore->who, pid, 0) ?
			      broker_open(symstore->dir, "symbols/tenants", O_DIRECTORY | O_NOFOLLOW) :
			      -1;
	struct stat found = { 0 }, status;
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
		one = symstoreindex_open(symstore->index, path_in(symstore, path, folder, id, numbers));
		if (one < 0 || fstat(one, &status) < 0)
			continue;
		if (fd < 0) {
			fd = one;
			found = status;
			continue;
		}
		close(one);
		/* several tenants have different files with this build-id: the right one is unknown */
		if (status.st_ino != found.st_ino) {
			close(fd);
			fd = -1;
			break;
		}
	}
	text_free(&names);
	errno = fd < 0 ? ENOENT : 0;
	return fd;
}

/* Returns the inode of the file that was saved for process `pid`, and writes the path of the file to `path`. Returns 0
 * if no file was saved. */
static uint64_t find_binary(const struct symstore *symstore, uint32_t pid, const struct build_id *id,
			    const struct file_id *numbers, char path[BINARY_PATH])
{
	char folder[SYMSTORE_TENANT] = "";
	uint64_t inode;
	size_t i = 0;

	do
		inode = symstoreindex_inode(symstore->index, path_in(symstore, path, folder, id, numbers));
	while (!inode && tenant_of_pid(symstore, pid, i++, folder));
	return inode;
}

int symstore_binary(const struct symstore *symstore, uint32_t pid, const struct build_id *id,
		    const struct file_id *numbers)
{
	char path[BINARY_PATH];

	if (!is_askable(symstore, id, numbers))
		return -1;
	if (find_binary(symstore, pid, id, numbers, path))
		return open_plain(symstore, path);
	errno = ENOENT;
	/* a file id comes from the kernel, so a file that another tenant saved under this id is the same file */
	return id->n < 2 ? symstore_unclaimed(symstore, pid, id, numbers) : -1;
}

/* Returns the inode of an open file, and closes fd; 0 if fd is -1. */
static uint64_t symstore_inode_of(int fd)
{
	struct stat status = { 0 };

	if (fd < 0)
		return 0;
	fstat(fd, &status);
	close(fd);
	return status.st_ino;
}

static uint64_t inode_of_binary(const struct symstore *symstore, uint32_t pid, const struct build_id *id,
				const struct file_id *numbers)
{
	char path[BINARY_PATH];
	uint64_t inode = is_askable(symstore, id, numbers) ? find_binary(symstore, pid, id, numbers, path) : 0;

	return inode || id->n > 1 ? inode : symstore_inode_of(symstore_unclaimed(symstore, pid, id, numbers));
}

struct symstore_origin symstore_origin(const struct symstore *symstore, uint32_t pid, const struct build_id *id,
				       const struct file_id *numbers)
{
	struct symstore_origin origin = { .file = inode_of_binary(symstore, pid, id, numbers) };
	char folder[SYMSTORE_TENANT];
	struct str own = symstore_tenant(symstore, pid, folder);

	if (symstore->by_tenant || recorder_elsewhere(symstore->who, pid))
		origin.tenant = hash_bytes(own.p, own.n) | 1;
	return origin;
}

struct str symstore_tenant(const struct symstore *symstore, uint32_t pid, char folder[SYMSTORE_TENANT])
{
	tenant_of_pid(symstore, pid, 0, folder);
	return str_of(folder);
}

bool symstore_conflicts(const struct symstore *symstore, uint32_t pid, const struct build_id *id)
{
	char own[SYMSTORE_TENANT], path[BINARY_PATH];
	uint64_t mine, all, shared;

	if (symstore->dir < 0 || id->n < 2)
		return false;
	mine = tenant_of_pid(symstore, pid, 0, own) ? symstoreindex_inode(symstore->index, path_of_id(path, own, id)) :
						      0;
	all = symstoreindex_inode(symstore->index, path_of_id(path, "", id));
	shared = symstoreindex_inode(symstore->index, path_of_id(path, "shared/", id));
	return mine && ((all && all != mine) || (shared && shared != mine));
}

struct build_id symstore_build(const struct symstore *symstore, const struct file_id *numbers)
{
	const struct pj_build_id *reported = recorder_file(symstore->who, numbers);

	return reported ? reported->build_id : (struct build_id){ 0 };
}

bool symstore_is_program(const struct symstore *symstore, uint32_t pid, const struct file_id *numbers)
{
	return inode_of_binary(symstore, pid, &(struct build_id){ 0 }, numbers);
}

int symstore_vdso(const struct symstore *symstore)
{
	char path[128];

	errno = ENOENT;
	if (symstore->dir < 0 || symstore->who->boot.n == 0)
		return -1;
	snprintf(path, sizeof(path), "symbols/%.*s/vdso", (int)symstore->who->boot.n, symstore->who->boot.p);
	return open_plain(symstore, path);
}

/* Writes the path of a JIT file's copy to name: jit/BOOT/FOLDER/PID-START.KIND, or jit/BOOT/PID-START.KIND, as in
 * earlier versions, if folder is empty. */
static void jit_name(const struct symstore *symstore, const char *folder, uint32_t pid, const char *kind, char *name,
		     size_t space)
{
	const struct pj_process *process = recorder_process(symstore->who, pid);

	snprintf(name, space, "jit/%.*s/%s%s%u-%llu.%s", (int)symstore->who->boot.n, symstore->who->boot.p, folder,
		 folder[0] ? "/" : "", (unsigned)pid, (unsigned long long)(process ? process->start : 0), kind);
}

/* Sets `folder` to the folder that contains the copy of a JIT file of process `pid`; kind: as for symstore_jit.
 * Searches all folders, since the process may have had another tenant when it began to write than in the window.
 * Returns false if no folder contains the copy. */
static bool find_jit(const struct symstore *symstore, uint32_t pid, const char *kind, char folder[TENANT_NAME])
{
	bool found = false;

	for (struct str left = text_view(&symstore->jit_folders); left.n && !found;) {
		struct str one = str_cut(&left, 0);
		char name[256];

		if (one.n == 0 || one.p[0] == '.' || one.n >= TENANT_NAME)
			continue;
		snprintf(folder, TENANT_NAME, "%.*s", (int)one.n, one.p);
		jit_name(symstore, folder, pid, kind, name, sizeof(name));
		found = symstoreindex_inode(symstore->index, name);
	}
	return found;
}

void symstore_name(const struct symstore *symstore, uint32_t pid, const char *kind, char *name, size_t space)
{
	char folder[TENANT_NAME];

	jit_name(symstore, find_jit(symstore, pid, kind, folder) ? folder : "", pid, kind, name, space);
}

int symstore_jit(const struct symstore *symstore, uint32_t pid, const char *kind)
{
	const struct pj_process *process = symstore->dir >= 0 ? recorder_process(symstore->who, pid) : NULL;
	char path[256], folder[TENANT_NAME];
	struct tenant tenant;
	int fd;

	errno = ENOENT;
	if (!process || process->start == 0 || symstore->who->boot.n == 0)
		return -1;
	tenant = (struct tenant){ (enum tenant_kind)process->tenant_kind, process->tenant };
	tenant_folder(&tenant, process->mount_ns, folder);
	jit_name(symstore, folder, pid, kind, path, sizeof(path));
	fd = symstoreindex_open(symstore->index, path);
	if (fd >= 0 || errno != ENOENT)
		return fd;
	symstore_name(symstore, pid, kind, path, sizeof(path));
	return symstoreindex_open(symstore->index, path);
}

size_t symstore_kernels(const struct symstore *symstore)
{
	return symstore->who->nkallsyms ? symstore->who->nkallsyms : symstore->nkernels;
}

int symstore_kernel(const struct symstore *symstore, size_t i)
{
	char path[320];

	errno = ENOENT;
	if (symstore->dir < 0 || i >= symstore_kernels(symstore))
		return -1;
	if (i >= symstore->who->nkallsyms)
		snprintf(path, sizeof(path), "symbols/kallsyms-%.*s.%llu.gz", (int)symstore->who->boot.n,
			 symstore->who->boot.p, (unsigned long long)symstore->kernel[i]);
	else
		snprintf(path, sizeof(path), "symbols/%.*s", (int)symstore->who->kallsyms[i].n,
			 symstore->who->kallsyms[i].p);
	return open_plain(symstore, path);
}
