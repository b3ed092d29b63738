/* SPDX-License-Identifier: Apache-2.0 */
#include "record/probes/mappedfile.h"

#include "common/arena.h"
#include "common/files/targetfile.h"
#include "common/hash.h"
#include "common/process/taskwait.h"
#include "common/process/tenants.h"
#include "common/process/timelimit.h"
#include "common/text.h"
#include "record/probes/hostmounts.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

/* Returns an address without the leading zeros that maps adds up to 8 digits; names in map_files have no such zeros. */
static struct str unpadded(struct str address)
{
	while (address.n > 1 && address.p[0] == '0')
		address = str_from(address, 1);
	return address;
}

/* Returns an O_PATH descriptor of the file of a mapping by its entry in map_files; -1 with errno. */
static int find_range(uint32_t pid, struct str range)
{
	struct text path = { 0 };
	struct str begin, end = range;
	int fd;

	begin = unpadded(str_cut(&end, '-'));
	end = unpadded(end);
	text_printf(&path, "/proc/%" PRIu32 "/map_files/%.*s-%.*s", pid, (int)begin.n, begin.p, (int)end.n, end.p);
	text_char(&path, '\0');
	fd = open(path.p, O_PATH | O_CLOEXEC);
	text_free(&path);
	return fd;
}

/* Returns an O_PATH descriptor of the file at the path of a mapping, below the root directory of the process; -1 with
 * errno. */
static int find_below_root(uint32_t pid, const struct namedmapping *mapping)
{
	int root = targetfile_root((pid_t)pid);
	int fd = root < 0 ? -1 : targetfile_locate(root, mapping->path);
	int error = errno;

	if (root >= 0)
		close(root);
	errno = error;
	return fd;
}

/* Opens the file of the O_PATH descriptor fd for reading, and closes fd. Returns the new descriptor; -1 with errno on
 * failure, also if fd is -1. local: true: fails with EREMOTE for a file that is not local (hostmounts.h). */
static int open_found(int fd, uint32_t pid, bool local)
{
	if (fd < 0 || !local || hostmounts_is_local(fd, pid))
		return targetfile_reopen(fd);
	close(fd);
	errno = EREMOTE;
	return -1;
}

static int open_if_local(uint32_t pid, const struct namedmapping *mapping, bool local)
{
	int fd = open_found(find_range(pid, mapping->range), pid, local);

	if (fd < 0 && mapping->deleted)
		errno = errno == EREMOTE ? EREMOTE : ESTALE;
	else if (fd < 0 && errno != EREMOTE)
		fd = open_found(find_below_root(pid, mapping), pid, local);
	if (fd >= 0 && !targetfile_is(fd, mapping->major, mapping->minor, mapping->inode)) {
		close(fd);
		fd = -1;
		errno = ESTALE;
	}
	return fd;
}

int mappedfile_open(uint32_t pid, const struct namedmapping *mapping)
{
	return open_if_local(pid, mapping, false);
}

/* ---- with a time limit ------------------------------------------------------------------------------------------ */

enum { OPENS = 1 }; /* hashed with a tenant's fault domain, gives the fault domain of its opens */

struct opening {
	int process, fd, error;
	uint32_t pid;
	struct namedmapping mapping;
	struct arena strings; /* memory of the strings of `mapping` */
};

static void opening_work(void *arg)
{
	struct opening *opening = arg;

	opening->fd = open_if_local(opening->pid, &opening->mapping, true);
	opening->error = errno;
	if (opening->fd >= 0 && targetfile_is_proc(opening->fd)) {
		close(opening->fd);
		opening->fd = -1;
		opening->error = EINVAL;
	}
}

static void opening_drop(void *arg)
{
	struct opening *opening = arg;

	if (opening->process >= 0)
		close(opening->process);
	if (opening->fd >= 0)
		close(opening->fd);
	arena_free(&opening->strings);
	free(opening);
}

/* Returns the fault domain of an open. A file system that does not respond must not stop the reads of mappings of its
 * tenant (libjvms.h), so opens have fault domains of their own. */
static uint64_t opening_place(void *arg)
{
	const struct opening *opening = arg;

	return hash_pair(tenant_place(opening->process), OPENS);
}

int mappedfile_open_soon(int process, uint32_t pid, const struct namedmapping *mapping)
{
	struct opening *opening = mem_alloc(sizeof(*opening), 1);
	int fd, error;

	*opening = (struct opening){ fcntl(process, F_DUPFD_CLOEXEC, 0), -1, 0, pid, *mapping, { 0 } };
	opening->mapping.range = arena_copy(&opening->strings, mapping->range);
	opening->mapping.path = arena_copy(&opening->strings, mapping->path);
	if (!timelimit_call(&(struct timelimit_call){ opening_work, opening_drop, opening_place, opening, TASKWAIT_MS,
						      20 * TASKWAIT_MS }))
		return -1;
	fd = opening->fd;
	error = opening->error;
	opening->fd = -1;
	opening_drop(opening);
	errno = error;
	return fd;
}
