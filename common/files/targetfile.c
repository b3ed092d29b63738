/* SPDX-License-Identifier: Apache-2.0 */
#include "common/files/targetfile.h"

#include "common/text.h"
#include "common/syscalls.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#define OVERLAY_MAGIC 0x794c7630
#define BTRFS_MAGIC 0x9123683E
#define READ_ONLY (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

/* Checks the file type before it opens the file, because opening a device can have side effects. */
int targetfile_reopen(int fd)
{
	struct stat status;
	char link[48];
	int opened = -1, error = EINVAL;

	if (fd < 0)
		return -1;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) {
		opened = open(link, READ_ONLY);
		error = errno;
	}
	close(fd);
	errno = error;
	return opened;
}

bool targetfile_is_proc(int fd)
{
	struct statfs filesystem;

	return fstatfs(fd, &filesystem) == 0 && filesystem.f_type == PROC_SUPER_MAGIC;
}

bool targetfile_is_btrfs(int fd)
{
	struct statfs filesystem;

	return fstatfs(fd, &filesystem) == 0 && (uint32_t)filesystem.f_type == BTRFS_MAGIC;
}

bool targetfile_is(int fd, uint32_t device_major, uint32_t device_minor, uint64_t inode)
{
	struct stat status;
	struct statfs filesystem;

	if (fstat(fd, &status) < 0)
		return false;
	if (status.st_ino == inode && major(status.st_dev) == device_major && minor(status.st_dev) == device_minor)
		return true;
	if (fstatfs(fd, &filesystem) < 0)
		return false;
	if ((uint64_t)filesystem.f_type == OVERLAY_MAGIC)
		return ((status.st_ino ^ inode) & 0xFFFFFFFFFFFF) == 0;
	return (uint64_t)filesystem.f_type == BTRFS_MAGIC && status.st_ino == inode;
}

int targetfile_root(pid_t pid)
{
	char root[48];

	snprintf(root, sizeof(root), "/proc/%d/root", (int)pid);
	return open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* Returns an O_PATH descriptor of path below root, or -1 with errno. flags and resolve: further bits for the members of
 * struct open_how with these names (openat2). */
static int targetfile_find(int root, struct str path, uint64_t flags, uint64_t resolve)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC | flags,
				.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | resolve };
	struct text name = { 0 };
	int fd, error;

	if (path.n == 0 || memchr(path.p, 0, path.n)) {
		errno = ENOENT;
		return -1;
	}
	text_str(&name, path);
	text_char(&name, '\0');
	fd = (int)syscall(SYS_openat2, root, name.p, &how, sizeof(how));
	error = errno;
	text_free(&name);
	errno = error;
	return fd;
}

int targetfile_open(int root, struct str path, bool links)
{
	return targetfile_reopen(targetfile_find(root, path, 0, links ? 0 : RESOLVE_NO_SYMLINKS));
}

int targetfile_locate(int root, struct str path)
{
	return targetfile_find(root, path, 0, 0);
}

int targetfile_folder(int root, struct str path)
{
	return targetfile_find(root, path, O_DIRECTORY, 0);
}
