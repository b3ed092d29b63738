/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/opener/openerhelper.h"

#include "common/process/capabilities.h"
#include "common/clocks.h"
#include "common/process/fdmessage.h"
#include "common/files/targetfile.h"
#include "common/process/sandbox.h"
#include "common/syscalls.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SOCKET_FD = 3 };
#define COPY_MAX ((off_t)2 << 30)
#define BLOCK ((size_t)1 << 20)

/* Capabilities of helpers: to read files of any user, also below /proc/PID/root; to give copies the owners of the
 * files; to send descriptors, however many are in flight (fdmessage_prepare()). */
#define CAPABILITIES                                                                                        \
	(CAPABILITY_BIT(CAP_DAC_READ_SEARCH) | CAPABILITY_BIT(CAP_SYS_PTRACE) | CAPABILITY_BIT(CAP_CHOWN) | \
	 CAPABILITY_BIT(CAP_SYS_RESOURCE))

/* Returns fd; if it is a file of /proc, closes it and returns -1 with EACCES. Programs map no code from /proc, and a
 * pjfold that was taken over could read the memory of processes through such a descriptor. */
static int refuse_proc(int fd)
{
	if (fd < 0 || !targetfile_is_proc(fd))
		return fd;
	close(fd);
	errno = EACCES;
	return -1;
}

/* Returns a descriptor of a copy in memory of /proc/PID/stat, or -1 with errno. A process can make readers of the
 * original file wait for ever (timelimit.h). */
static int copy_stat(int32_t pid)
{
	char path[48], text[4096];
	int from, copy = -1, error;
	ssize_t got = -1;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	from = open(path, O_RDONLY | O_CLOEXEC);
	if (from < 0)
		return -1;
	got = read(from, text, sizeof(text));
	if (got > 0)
		copy = memfd_create("pjfold-stat", MFD_CLOEXEC);
	error = got == 0 ? ESRCH : errno;
	if (copy >= 0 && pwrite(copy, text, (size_t)got, 0) != got) {
		error = errno;
		close(copy);
		copy = -1;
	}
	close(from);
	errno = error;
	return copy;
}

/* OVERLAY_FS, BTRFS: types of file systems for which fstat() returns another device than the record of a mapping. In an
 * overlay, the upper 16 bits of the inode may differ, too. */
enum { OVERLAY_FS = 0x794c7630, BTRFS = 0x9123683e };

/* Returns true if the open file fd, with the result *status of fstat(), has the device and inode of *id, apart from the
 * differences that OVERLAY_FS and BTRFS cause. Returns false for any other file. */
static bool has_numbers(int fd, const struct stat *status, const struct file_id *id)
{
	uint64_t other = status->st_ino ^ id->inode;
	struct statfs filesystem;

	if (!other && major(status->st_dev) == id->major && minor(status->st_dev) == id->minor)
		return true;
	if (fstatfs(fd, &filesystem) < 0)
		return false;
	if ((uint32_t)filesystem.f_type == OVERLAY_FS)
		return (other & 0xFFFFFFFFFFFF) == 0;
	return (uint32_t)filesystem.f_type == BTRFS && !other;
}

static uint64_t statx_ns(struct statx_timestamp time)
{
	return time.tv_sec < 0 ? 0 : (uint64_t)time.tv_sec * SECOND_NS + time.tv_nsec;
}

/* Returns true if the open file fd existed at the time `until` (wall clock, ns) and was not written later; otherwise
 * false. Its inode then did not belong to another file at that time: the file was born earlier, or, on a file system
 * without birth times, neither its contents nor its inode changed later (ctime). */
static bool is_unchanged(int fd, uint64_t until)
{
	struct statx status;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, &status) < 0)
		return false;
	return statx_ns(status.stx_mtime) <= until &&
	       statx_ns(status.stx_mask & STATX_BTIME ? status.stx_btime : status.stx_ctime) <= until;
}

/* Returns fd if it is shown to be the file of the request (fileopener_mapped()), or if the request accepts any file.
 * Otherwise closes fd and returns -1 with ESTALE. */
static int checked_mapped(int fd, const struct opener_request *request)
{
	bool numbered = request->id.inode;
	struct stat status;

	if (fd < 0 || (!numbered && !request->until))
		return fd;
	if ((!numbered || (fstat(fd, &status) == 0 && has_numbers(fd, &status, &request->id))) &&
	    ((numbered && request->pid) || !request->until || is_unchanged(fd, request->until)))
		return fd;
	close(fd);
	errno = ESTALE;
	return -1;
}

int openerhelper_open(const struct opener_request *request)
{
	struct str path = { request->path, request->n };
	int root, fd, error;

	if (request->kind == OPENER_STAT)
		return copy_stat(request->pid);
	if (request->kind == OPENER_BY_PATH)
		return checked_mapped(targetfile_reopen(refuse_proc(open(request->path, O_PATH | O_CLOEXEC))), request);
	if (request->kind == OPENER_PLAIN)
		return targetfile_reopen(refuse_proc(open(request->path, O_PATH | O_CLOEXEC | O_NOFOLLOW)));
	root = targetfile_root(request->pid);
	if (root < 0)
		return -1;
	fd = checked_mapped(refuse_proc(targetfile_open(root, path, true)), request);
	error = errno;
	close(root);
	errno = error;
	return fd;
}

/* Returns true if the file fd is on a file system that does not depend on a server, unlike FUSE and network file
 * systems. An overlay is local only in this mount namespace: an overlay of another namespace may lie on any file
 * system. elsewhere: true if the file is in another mount namespace. If the result is false, the file is copied. */
static bool is_local(int fd, bool elsewhere)
{
	static const uint32_t types[] = {
		0xef53 /* ext2-4 */,    0x58465342 /* xfs */,       0x9123683e /* btrfs */, 0x01021994 /* tmpfs */,
		0x858458f6 /* ramfs */, 0x73717368 /* squashfs */,  0xe0f5e1e2 /* erofs */, 0xf2f52010 /* f2fs */,
		0x2fc12fc1 /* zfs */,   0xca451a4e /* bcachefs */,  0x9660 /* iso9660 */,   0x4d44 /* vfat */,
		0x2011bab0 /* exfat */, 0x958458f6 /* hugetlbfs */, 0x9fa0 /* proc */,      0x62656572 /* sysfs */,
	};
	struct statfs s;

	if (fstatfs(fd, &s) < 0)
		return false;
	for (size_t i = 0; i < countof(types); i++)
		if ((uint32_t)s.f_type == types[i])
			return true;
	return (uint32_t)s.f_type == 0x794c7630 && !elsewhere;
}

static bool send_reply(int socket, struct opener_reply reply, int fd)
{
	return fdmessage_put(socket, &reply, sizeof(reply), fd);
}

static bool openerhelper_is_zero(const char *p, size_t n)
{
	return n == 0 || (p[0] == 0 && memcmp(p, p + 1, n - 1) == 0);
}

/* Copies the file `from` with its holes to the file `to`, and reports progress on the socket after each block. Returns
 * 0, or the errno of a failure; EFBIG for a file larger than COPY_MAX. */
static int copy_bytes(int from, int to, int socket)
{
	static char block[BLOCK];
	off_t at = 0;
	ssize_t got;

	while ((got = pread(from, block, sizeof(block), at)) > 0) {
		if (at > COPY_MAX)
			return EFBIG;
		if (!openerhelper_is_zero(block, (size_t)got) &&
		    (lseek(to, at, SEEK_SET) < 0 || write(to, block, (size_t)got) != got))
			return ENOSPC;
		at += got;
		if (!send_reply(socket, (struct opener_reply){ .error = OPENER_PROGRESS }, -1))
			return EPIPE;
	}
	if (got < 0)
		return errno;
	return ftruncate(to, at) < 0 ? errno : 0;
}

/* Returns a descriptor of a copy of the file in memory, or -1 with errno. Closes fd. Reports progress on the socket.
 * owner: true: the copy gets the owner of the file. */
static int openerhelper_copied(int fd, bool owner, int socket)
{
	int copy = memfd_create("pjfold-file", MFD_CLOEXEC), error = copy < 0 ? errno : 0;
	struct stat status;

	if (!error && (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode)))
		error = EINVAL;
	if (!error)
		error = copy_bytes(fd, copy, socket);
	if (!error && owner && status.st_uid != geteuid() && fchown(copy, status.st_uid, (gid_t)-1) < 0)
		error = EACCES;
	close(fd);
	if (error && copy >= 0)
		close(copy);
	errno = error;
	return error ? -1 : copy;
}

static uint64_t target_mount_ns(int32_t pid)
{
	struct stat own, its;
	char name[48];

	snprintf(name, sizeof(name), "/proc/%d/ns/mnt", (int)pid);
	return stat("/proc/self/ns/mnt", &own) == 0 && stat(name, &its) == 0 && own.st_ino != its.st_ino ? its.st_ino :
													   0;
}

/* Sends the result of a request on the socket: the descriptor fd, or the errno `error` if fd is -1. If too many
 * descriptors are in flight, sends the error ETOOMANYREFS instead of the descriptor. Returns false if pjfold has ended,
 * or if the reply cannot be sent. */
static bool openerhelper_answer(int socket, int error, int fd)
{
	return send_reply(socket, (struct opener_reply){ .error = error }, fd) ||
	       (errno == ETOOMANYREFS && send_reply(socket, (struct opener_reply){ .error = ETOOMANYREFS }, -1));
}

void openerhelper_run(int socket)
{
	static struct opener_request request;
	int fd;

	while (fdmessage_take(socket, &request, sizeof(request), &fd) > 0) {
		int error;
		bool sent;

		if (fd >= 0) /* requests have no descriptor: drop it */
			close(fd);
		request.path[OPENER_PATH_MAX] = 0; /* end the path: a hostile pjfold may send it without NUL */
		request.n = (uint32_t)strlen(request.path);
		if (request.kind == OPENER_WHERE) {
			send_reply(socket, (struct opener_reply){ .mount_ns = target_mount_ns(request.pid) }, -1);
			continue;
		}
		fd = openerhelper_open(&request);
		if (fd >= 0 && request.kind != OPENER_STAT &&
		    !is_local(fd, request.kind == OPENER_INSIDE || request.kind == OPENER_MAP_INSIDE))
			fd = openerhelper_copied(fd, request.kind == OPENER_PLAIN || request.kind == OPENER_MAP_INSIDE,
						 socket);
		error = fd < 0 ? errno : 0;
		sent = openerhelper_answer(socket, error, fd);
		if (fd >= 0)
			close(fd);
		if (!sent)
			break;
	}
}

/* ---- process pjfold-start --------------------------------------------------------------------------------------- */

/* Closes all descriptors except for the socket, which becomes SOCKET_FD. A helper must not keep pjfold's standard
 * output open: the reader of the output would wait until the helper ends. */
static void openerhelper_keep_only(int socket)
{
	if (socket != SOCKET_FD)
		dup3(socket, SOCKET_FD, 0);
	syscall(SYS_close_range, SOCKET_FD + 1u, ~0u, 0u);
}

static pid_t openerhelper_fork(int socket)
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_NAME, "pjfold-open");
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		openerhelper_keep_only(socket);
		sandbox_narrow(SANDBOX_ROOTS);
		openerhelper_run(SOCKET_FD);
		_exit(0);
	}
	return pid;
}

/* For each byte on the control socket, kills the last helper, which may hang, starts a new helper, and replies with a
 * socket to the new helper. Returns when pjfold closes the other end of the control socket. */
static void openerhelper_run_starter(int control)
{
	pid_t helper = 0;
	char byte;
	int fd;

	while (fdmessage_take(control, &byte, 1, &fd) > 0) {
		int pair[2];
		bool sent;

		if (fd >= 0) /* requests have no descriptor: drop it */
			close(fd);
		if (helper > 0)
			kill(helper, SIGKILL);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
			break;
		helper = openerhelper_fork(pair[1]);
		sent = send_reply(control, (struct opener_reply){ .mount_ns = (uint64_t)helper },
				  helper > 0 ? pair[0] : -1);
		close(pair[0]);
		close(pair[1]);
		/* exit: pjfold waits for the reply that cannot be sent, and the end of this process ends this wait */
		if (!sent)
			break;
	}
	if (helper > 0 && kill(helper, SIGKILL) == 0)
		waitpid(helper, NULL, 0);
}

void openerhelper_become_starter(int socket, bool unprivileged)
{
	static const int ignored[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE };

	for (size_t i = 0; i < countof(ignored); i++)
		signal(ignored[i], SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
	prctl(PR_SET_NAME, "pjfold-start");
	openerhelper_keep_only(socket);
	for (int fd = 0; fd < SOCKET_FD; fd++)
		close(fd);
	for (int fd = 0; fd < SOCKET_FD; fd++)
		open("/dev/null", O_RDWR);
	capabilities_limit(unprivileged ? 0 : CAPABILITIES);
	sandbox_enter(&(struct sandbox){ .groups = SANDBOX_ROOTS | SANDBOX_FORK, .keep_capabilities = true });
	openerhelper_run_starter(SOCKET_FD);
	_exit(0);
}
