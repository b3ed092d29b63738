/* SPDX-License-Identifier: Apache-2.0 */
/*
 * powercut.c - LD_PRELOAD: the durable state of a disk if the power fails at the Nth call that changes files.
 *
 * PJ_CUT_ROOT is a folder; PJ_CUT_DISK another one, in which its durable state is kept: d.KEY, the entries of a
 * folder ("f KEY NAME" or "d KEY NAME" a line), and f.KEY, the content of a file as of its last fsync. A file that
 * was never synced has no content. Entries become durable by fsync, in one of two ways (PJ_CUT_MODEL):
 *
 *	journal  as by ext4, XFS and btrfs: fsync of any file makes all entries durable that were changed before
 *	strict   as in POSIX: fsync of a folder makes only its own entries durable; a rename between folders is one
 *	         change of both
 *
 * PJ_CUT_AT=N: killed before the Nth call. PJ_CUT_COUNT=FILE: receives the number of calls. Programs that the
 * process starts are left alone. test/lib/powercut.sh makes a folder of PJ_CUT_DISK again.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define RENAMES 4096

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *root, *disk, *report;
static int at, calls, strict;
static pid_t self;
static struct {
	ino_t from, to;
} renamed[RENAMES]; /* between folders, not durable yet */
static int nrenamed;

static long real_open(const char *path, int flags)
{
	return syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, 0644);
}

/* A file system may use the number of an inode again; then the time of its birth differs. */
static void key_of(char key[64], int folder, const char *name)
{
	struct statx x = { 0 };

	syscall(SYS_statx, folder, name, AT_SYMLINK_NOFOLLOW | (*name ? 0 : AT_EMPTY_PATH), STATX_INO | STATX_BTIME,
		&x);
	snprintf(key, 64, "%llx-%llx-%x", (unsigned long long)x.stx_ino, (unsigned long long)x.stx_btime.tv_sec,
		 x.stx_btime.tv_nsec);
}

static void keep_file(int fd)
{
	char key[64], path[600], temp[620], block[65536];
	off_t where = 0;
	ssize_t n;
	int to;

	key_of(key, fd, "");
	snprintf(path, sizeof(path), "%s/f.%s", disk, key);
	snprintf(temp, sizeof(temp), "%s.new", path);
	to = (int)real_open(temp, O_WRONLY | O_CREAT | O_TRUNC);
	snprintf(block, sizeof(block), "/proc/self/fd/%d", fd);
	fd = (int)real_open(block, O_RDONLY);
	while ((n = pread(fd, block, sizeof(block), where)) > 0 && syscall(SYS_write, to, block, n) == n)
		where += n;
	close(fd);
	close(to);
	syscall(SYS_rename, temp, path);
}

/* The entries of a folder; and, if deep, all below it. first: what is there at the start, with its content. */
static void keep_folder(const char *folder, int deep, int first)
{
	char key[64], path[600], temp[620], line[400], below[1200];
	DIR *d = opendir(folder);
	struct dirent *e;
	struct stat st;
	int to;

	if (!d)
		return;
	key_of(key, dirfd(d), "");
	snprintf(path, sizeof(path), "%s/d.%s", disk, key);
	snprintf(temp, sizeof(temp), "%s.new", path);
	to = (int)real_open(temp, O_WRONLY | O_CREAT | O_TRUNC);
	while ((e = readdir(d))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
		    fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		key_of(key, dirfd(d), e->d_name);
		snprintf(line, sizeof(line), "%c %s %s\n", S_ISDIR(st.st_mode) ? 'd' : 'f', key, e->d_name);
		if (syscall(SYS_write, to, line, strlen(line)) < 0)
			abort();
		snprintf(below, sizeof(below), "%s/%s", folder, e->d_name);
		if (S_ISDIR(st.st_mode) && deep)
			keep_folder(below, deep, first);
		if (S_ISREG(st.st_mode) && first) {
			int fd = (int)real_open(below, O_RDONLY);

			keep_file(fd);
			close(fd);
		}
	}
	closedir(d);
	close(to);
	syscall(SYS_rename, temp, path);
}

static ino_t inode(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 ? st.st_ino : 0;
}

/* The folder with that inode, and those that entries came from or went to. */
static void keep_folders_of(const char *folder, ino_t wanted)
{
	DIR *d = opendir(folder);
	struct dirent *e;
	char below[1200];
	int hit;

	if (!d)
		return;
	hit = inode(dirfd(d)) == wanted;
	for (int i = 0; i < nrenamed && !hit; i++)
		hit = (renamed[i].from == wanted && renamed[i].to == inode(dirfd(d))) ||
		      (renamed[i].to == wanted && renamed[i].from == inode(dirfd(d)));
	if (hit)
		keep_folder(folder, 0, 0);
	while ((e = readdir(d))) {
		snprintf(below, sizeof(below), "%s/%s", folder, e->d_name);
		if (e->d_type == DT_DIR && strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			keep_folders_of(below, wanted);
	}
	closedir(d);
}

static void synced(int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return;
	if (S_ISREG(st.st_mode))
		keep_file(fd);
	if (!strict)
		keep_folder(root, 1, 0);
	else if (S_ISDIR(st.st_mode))
		keep_folders_of(root, st.st_ino);
}

static void note_rename(int from, int to)
{
	if (nrenamed < RENAMES && inode(from) != inode(to)) {
		renamed[nrenamed].from = inode(from);
		renamed[nrenamed++].to = inode(to);
	}
}

__attribute__((constructor)) static void begin(void)
{
	const char *n = getenv("PJ_CUT_AT"), *model = getenv("PJ_CUT_MODEL"), *who = getenv("PJ_CUT_WHO");

	if (!who || strcmp(program_invocation_short_name, who) != 0)
		return;
	root = getenv("PJ_CUT_ROOT");
	disk = getenv("PJ_CUT_DISK");
	report = getenv("PJ_CUT_COUNT");
	at = n ? (int)strtol(n, NULL, 10) : 0;
	strict = model && strcmp(model, "strict") == 0;
	self = getpid();
	keep_folder(root, 1, 1);
}

__attribute__((destructor)) static void end(void)
{
	FILE *f = root && report && getpid() == self ? fopen(report, "w") : NULL;

	if (f) {
		fprintf(f, "%d\n", calls);
		fclose(f);
	}
}

/* Counts a call; locked until leave(). */
static int enter(void)
{
	if (!root || getpid() != self)
		return 0;
	pthread_mutex_lock(&lock);
	if (++calls == at)
		kill(self, SIGKILL);
	return 1;
}

static void leave(int entered)
{
	int error = errno;

	if (entered)
		pthread_mutex_unlock(&lock);
	errno = error;
}

#define WRAP(type, name, params, args, after)                      \
	type name params                                           \
	{                                                          \
		static type(*real) params;                         \
		type result;                                       \
		int entered = enter();                             \
		if (!real)                                         \
			*(void **)&real = dlsym(RTLD_NEXT, #name); \
		result = real args;                                \
		if (entered && result >= 0) {                      \
			after;                                     \
		}                                                  \
		leave(entered);                                    \
		return result;                                     \
	}

WRAP(ssize_t, write, (int fd, const void *p, size_t n), (fd, p, n), (void)0)
WRAP(ssize_t, pwrite, (int fd, const void *p, size_t n, off_t o), (fd, p, n, o), (void)0)
WRAP(int, ftruncate, (int fd, off_t n), (fd, n), (void)0)
WRAP(int, fsync, (int fd), (fd), synced(fd))
WRAP(int, fdatasync, (int fd), (fd), synced(fd))
WRAP(int, renameat, (int fa, const char *a, int fb, const char *b), (fa, a, fb, b), note_rename(fa, fb))
WRAP(int, renameat2, (int fa, const char *a, int fb, const char *b, unsigned flags), (fa, a, fb, b, flags),
     note_rename(fa, fb))
WRAP(int, linkat, (int fa, const char *a, int fb, const char *b, int flags), (fa, a, fb, b, flags), (void)0)
WRAP(int, unlinkat, (int fd, const char *a, int flags), (fd, a, flags), (void)0)
WRAP(int, mkdirat, (int fd, const char *a, mode_t mode), (fd, a, mode), (void)0)
