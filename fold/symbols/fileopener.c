/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/symbols/fileopener.h"

#include "common/filter/broker.h"
#include "common/process/capabilities.h"
#include "common/process/childend.h"
#include "common/clocks.h"
#include "common/diag.h"
#include "common/process/fdmessage.h"
#include "common/hash.h"
#include "common/files/targetfile.h"
#include "common/process/sandbox.h"
#include "common/syscalls.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <pthread.h>
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

enum {
	PATH_MAX_BYTES = 4096,
	PLACES = 256,
	WAITS_FULL = 3,
	SOCKET_FD = 3,
	SHORT_MS = 100,
	RUNNING_MS = 5000,
	DIRECTORY_MAX = 3,
	PROCESSES = 256
};
#define COPY_MAX ((off_t)2 << 30)
#define BLOCK ((size_t)1 << 20)
#define MS_NS (SECOND_NS / 1000)

/* Capabilities of helpers: they read files of any user, also below /proc/PID/root, give copies the owners of the
 * files, and send descriptors however many are in flight (fdmessage_prepare). */
#define CAPABILITIES                                                                                        \
	(CAPABILITY_BIT(CAP_DAC_READ_SEARCH) | CAPABILITY_BIT(CAP_SYS_PTRACE) | CAPABILITY_BIT(CAP_CHOWN) | \
	 CAPABILITY_BIT(CAP_SYS_RESOURCE))

/* Kinds of requests. STAT is a copy of /proc/PID/stat, WHERE the mount namespace of a process. */
enum kind { BY_PATH, PLAIN, INSIDE, MAP_INSIDE, STAT, WHERE };

struct request {
	uint32_t kind;
	int32_t pid;
	uint64_t until;    /* time of fileopener_mapped */
	struct file_id id; /* file that the path must have; inode 0: any, if it is unchanged since `until` */
	uint32_t n;
	char path[PATH_MAX_BYTES + 1];
};

enum { PROGRESS = -1 };

struct reply {
	int32_t error;     /* errno of the failure; 0: success, with a descriptor; PROGRESS: the helper still copies */
	uint64_t mount_ns; /* for WHERE: inode of the mount namespace; 0: that of the helper, or unknown */
};

/* ---- the helper ------------------------------------------------------------------------------------------------- */

/* Returns fd; closes it and returns -1 with EACCES if it is a file of /proc. Programs map no code from there, and a
 * pjfold that was taken over could read the memory of processes. */
static int refuse_proc(int fd)
{
	if (fd < 0 || !targetfile_is_proc(fd))
		return fd;
	close(fd);
	errno = EACCES;
	return -1;
}

/* The text of /proc/PID/stat, in memory: a process can make readers wait for ever (timelimit.h). */
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

/* File systems whose files have other devices, or in an overlay other upper bits of the inode, in fstat than in records
 * of mappings. */
enum { OVERLAY_FS = 0x794c7630, BTRFS = 0x9123683e };

/* Returns true if the open file has the device and inode of a mapping. */
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

/* Returns true if the open file has existed and has had its bytes at the time `until`. Its inode was not that of
 * another file before: the file was born earlier, or where the file system has no time of birth, nothing of it has
 * changed. */
static bool is_unchanged(int fd, uint64_t until)
{
	struct statx status;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, &status) < 0)
		return false;
	return statx_ns(status.stx_mtime) <= until &&
	       statx_ns(status.stx_mask & STATX_BTIME ? status.stx_btime : status.stx_ctime) <= until;
}

/* Returns fd if it is shown to be the file of the request (fileopener_mapped), or if that may be any. Otherwise closes
 * it and returns -1 with ESTALE. */
static int checked_mapped(int fd, const struct request *request)
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

static int open_request(const struct request *request)
{
	struct str path = { request->path, request->n };
	int root, fd, error;

	if (request->kind == STAT)
		return copy_stat(request->pid);
	if (request->kind == BY_PATH)
		return checked_mapped(targetfile_reopen(refuse_proc(open(request->path, O_PATH | O_CLOEXEC))), request);
	if (request->kind == PLAIN)
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

/* Returns true if the file is on a file system that needs no server (FUSE, network). An overlay of another mount
 * namespace does not count: any file system may be below it. */
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

static bool send_reply(int socket, struct reply reply, int fd)
{
	return fdmessage_put(socket, &reply, sizeof(reply), fd);
}

static bool fileopener_is_zero(const char *p, size_t n)
{
	return n == 0 || (p[0] == 0 && memcmp(p, p + 1, n - 1) == 0);
}

/* Copies a file, keeping its holes, and reports progress on the socket. Returns 0, or errno. */
static int copy_bytes(int from, int to, int socket)
{
	static char block[BLOCK];
	off_t at = 0;
	ssize_t got;

	while ((got = pread(from, block, sizeof(block), at)) > 0) {
		if (at > COPY_MAX)
			return EFBIG;
		if (!fileopener_is_zero(block, (size_t)got) &&
		    (lseek(to, at, SEEK_SET) < 0 || write(to, block, (size_t)got) != got))
			return ENOSPC;
		at += got;
		if (!send_reply(socket, (struct reply){ .error = PROGRESS }, -1))
			return EPIPE;
	}
	if (got < 0)
		return errno;
	return ftruncate(to, at) < 0 ? errno : 0;
}

/* Returns a descriptor of a copy of the file in memory, or -1 and errno. Closes fd. owner: the copy gets the owner of
 * the file. */
static int fileopener_copied(int fd, bool owner, int socket)
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

/* Sends the result of a request. Where too many descriptors are in flight, the error takes the place of the descriptor.
 * Returns false if pjfold has ended, or gets no reply. */
static bool fileopener_answer(int socket, int error, int fd)
{
	return send_reply(socket, (struct reply){ .error = error }, fd) ||
	       (errno == ETOOMANYREFS && send_reply(socket, (struct reply){ .error = ETOOMANYREFS }, -1));
}

static void fileopener_run_helper(int socket)
{
	static struct request request;
	int fd;

	while (fdmessage_take(socket, &request, sizeof(request), &fd) > 0) {
		int error;
		bool sent;

		if (fd >= 0) /* no request has a descriptor: drop it */
			close(fd);
		request.path[PATH_MAX_BYTES] = 0; /* end the path: a hostile pjfold may send one without NUL */
		request.n = (uint32_t)strlen(request.path);
		if (request.kind == WHERE) {
			send_reply(socket, (struct reply){ .mount_ns = target_mount_ns(request.pid) }, -1);
			continue;
		}
		fd = open_request(&request);
		if (fd >= 0 && request.kind != STAT &&
		    !is_local(fd, request.kind == INSIDE || request.kind == MAP_INSIDE))
			fd = fileopener_copied(fd, request.kind == PLAIN || request.kind == MAP_INSIDE, socket);
		error = fd < 0 ? errno : 0;
		sent = fileopener_answer(socket, error, fd);
		if (fd >= 0)
			close(fd);
		if (!sent)
			break;
	}
}

/* ---- the process that forks helpers ----------------------------------------------------------------------------- */

/* Closes all descriptors but the socket, which becomes SOCKET_FD. A helper must not hold pjfold's standard output open:
 * its reader would wait until the helper ends. */
static void fileopener_keep_only(int socket)
{
	if (socket != SOCKET_FD)
		dup3(socket, SOCKET_FD, 0);
	syscall(SYS_close_range, SOCKET_FD + 1u, ~0u, 0u);
}

static pid_t fileopener_fork_helper(int socket)
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_NAME, "pjfold-open");
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		fileopener_keep_only(socket);
		sandbox_narrow(SANDBOX_ROOTS);
		fileopener_run_helper(SOCKET_FD);
		_exit(0);
	}
	return pid;
}

/* For each byte on the control socket, kills the former helper, which may hang, starts a new one and replies with its
 * socket. Returns when pjfold closes the other end. */
static void fileopener_run_starter(int control)
{
	pid_t helper = 0;
	char byte;
	int fd;

	while (fdmessage_take(control, &byte, 1, &fd) > 0) {
		int pair[2];
		bool sent;

		if (fd >= 0) /* no request has a descriptor: drop it */
			close(fd);
		if (helper > 0)
			kill(helper, SIGKILL);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
			break;
		helper = fileopener_fork_helper(pair[1]);
		sent = send_reply(control, (struct reply){ .mount_ns = (uint64_t)helper }, helper > 0 ? pair[0] : -1);
		close(pair[0]);
		close(pair[1]);
		if (!sent) /* pjfold waits for a reply; the end of this process ends that wait */
			break;
	}
	if (helper > 0 && kill(helper, SIGKILL) == 0)
		waitpid(helper, NULL, 0);
}

/* Turns the forked child into the process that forks helpers: keeps the socket and the capabilities of helpers, and
 * nothing else. */
static NORETURN void become_starter(int socket, bool unprivileged)
{
	static const int ignored[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE };

	for (size_t i = 0; i < countof(ignored); i++)
		signal(ignored[i], SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
	prctl(PR_SET_NAME, "pjfold-start");
	fileopener_keep_only(socket);
	for (int fd = 0; fd < SOCKET_FD; fd++)
		close(fd);
	for (int fd = 0; fd < SOCKET_FD; fd++)
		open("/dev/null", O_RDWR);
	capabilities_limit(unprivileged ? 0 : CAPABILITIES);
	sandbox_enter(&(struct sandbox){ .groups = SANDBOX_ROOTS | SANDBOX_FORK, .keep_capabilities = true });
	fileopener_run_starter(SOCKET_FD);
	_exit(0);
}

static struct {
	pthread_mutex_t lock;
	int control, socket; /* control: socket to the process that forks helpers; socket: to the helper; -1: none */
	int pidfd;           /* of the process that forks helpers; -1: none */
	pid_t helper;
	unsigned waits, skipped; /* number of waits that timed out; number of skipped files */
	uint64_t place[PLACES];  /* keys of files, directories and mount namespaces that do not respond */
	uint8_t count[PLACES];
	int32_t where_pid; /* PID of the last lookup of a mount namespace, whose result is `where` */
	uint64_t where;
	struct fileopener_wait process[PROCESSES]; /* by pid modulo PROCESSES; pid 0: no process */
	uint64_t waited;                           /* time spent on all requests, in ns */
} opener = { .lock = PTHREAD_MUTEX_INITIALIZER, .control = -1, .socket = -1, .pidfd = -1 };

/* Lets the process that forks helpers end, with its helper, and waits for that, unless the helper was abandoned: it may
 * not end before its file system responds. */
static void fileopener_end(void)
{
	bool hung = opener.helper > 0 && opener.socket < 0;

	if (opener.socket >= 0)
		close(opener.socket);
	opener.socket = -1;
	close(opener.control);
	if (!hung)
		childend_wait(opener.pidfd);
	opener.pidfd = -1;
}

void fileopener_start(bool unprivileged)
{
	int pair[2];
	pid_t pid;

	if (opener.control >= 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return;
	fdmessage_prepare();
	childend_prepare();
	pid = fork();
	if (pid == 0)
		become_starter(pair[1], unprivileged);
	close(pair[1]);
	if (pid < 0) {
		close(pair[0]);
		return;
	}
	opener.control = pair[0];
	opener.pidfd = childend_watch(pid);
	diag_at_end(fileopener_end);
}

static bool fileopener_start_helper(void)
{
	struct reply reply = { 0 };

	if (opener.socket >= 0)
		return true;
	fileopener_start(false);
	if (opener.control < 0 || !fdmessage_put(opener.control, "", 1, -1) ||
	    fdmessage_take(opener.control, &reply, sizeof(reply), &opener.socket) != (ssize_t)sizeof(reply))
		return false;
	opener.helper = (pid_t)reply.mount_ns;
	return opener.socket >= 0;
}

/* Abandons the helper, which may hang. The start of the next one kills it. */
static void leave_helper(void)
{
	close(opener.socket);
	opener.socket = -1;
}

/* ---- places that do not respond --------------------------------------------------------------------------------- */

struct opener_keys {
	uint64_t file, directory; /* keys of the file, and of its directory or mount namespace */
	bool elsewhere;
};

static uint64_t fileopener_key(uint64_t what, struct str bytes)
{
	return (hash_bytes(bytes.p, bytes.n) ^ what) | 1;
}

static struct opener_keys places_of(const struct request *request, uint64_t mount_ns)
{
	struct str path = { request->path, request->n };
	struct opener_keys keys = { .file = fileopener_key((uint64_t)(uint32_t)request->pid << 32, path),
				    .directory = fileopener_key(1, str_head(path, (size_t)(str_rfind(path, '/') + 1))),
				    .elsewhere = mount_ns };

	if (mount_ns)
		keys.directory = (mount_ns << 2) | 3;
	return keys;
}

static uint8_t *count_of(uint64_t place)
{
	size_t i = place / 2 % PLACES;

	if (opener.place[i] != place) {
		opener.place[i] = place;
		opener.count[i] = 0;
	}
	return &opener.count[i];
}

static bool is_silent(uint64_t place, unsigned least)
{
	size_t i = place / 2 % PLACES;

	return opener.place[i] == place && opener.count[i] >= least;
}

static bool is_skipped(const struct opener_keys *keys)
{
	return is_silent(keys->file, 1) || is_silent(keys->directory, keys->elsewhere ? 1 : DIRECTORY_MAX);
}

/* Returns the counts of a process. Another process with the same place in the table replaces it; the limit of all
 * requests holds even so. */
static struct fileopener_wait *process_of(int32_t pid)
{
	struct fileopener_wait *process = &opener.process[(uint32_t)pid % PROCESSES];

	if (process->pid != pid)
		*process = (struct fileopener_wait){ .pid = pid };
	return process;
}

/* Returns the time, of clock_now, at which pjfold gives up a request for a file of the process: the first of the limits
 * of the file, of the process and of all requests. SHORT_MS remain if a limit is used up: files of local file systems
 * need less. pid: 0: no process. */
static uint64_t until_of(int32_t pid)
{
	uint64_t left = FILEOPENER_FILE_MS * MS_NS, all = FILEOPENER_ALL_MS * MS_NS,
		 process = FILEOPENER_PROCESS_MS * MS_NS, waited = pid ? process_of(pid)->ns : 0;

	all = opener.waited < all ? all - opener.waited : 0;
	process = waited < process ? process - waited : 0;
	left = left < all ? left : all;
	left = pid && process < left ? process : left;
	if (left < SHORT_MS * MS_NS)
		left = SHORT_MS * MS_NS;
	return clock_now() + left;
}

static void note_silence(const struct opener_keys *keys)
{
	opener.waits++;
	*count_of(keys->file) = 1;
	if (*count_of(keys->directory) < UINT8_MAX)
		++*count_of(keys->directory);
}

/* ---- lookups ---------------------------------------------------------------------------------------------------- */

/* Returns true if the helper is in state R: it runs or waits for a CPU, so no file system blocks it. */
static bool helper_runs(void)
{
	char name[48], stat[512];
	int fd;
	ssize_t got;
	struct str string;

	snprintf(name, sizeof(name), "/proc/%d/stat", (int)opener.helper);
	fd = broker_open(AT_FDCWD, name, 0);
	got = fd >= 0 ? read(fd, stat, sizeof(stat)) : -1;
	if (fd >= 0)
		close(fd);
	string = (struct str){ stat, got > 0 ? (size_t)got : 0 };
	return str_starts(str_from(string, (size_t)(str_rfind(string, ')') + 1)), STR(" R"));
}

/* Waits for a reply or a report of progress. Returns false if the helper sends none in time, or if it is `until`. */
static bool wait_for_reply(uint64_t until)
{
	struct pollfd polled = { .fd = opener.socket, .events = POLLIN };
	uint64_t now = clock_now(), running = now + RUNNING_MS * MS_NS;
	int got;

	do {
		int wait_ms = opener.waits < WAITS_FULL ? FILEOPENER_MS : SHORT_MS;

		now = clock_now();
		if (now >= until)
			return false;
		if ((until - now) / MS_NS < (uint64_t)wait_ms)
			wait_ms = (int)((until - now) / MS_NS) + 1;
		got = poll(&polled, 1, wait_ms);
	} while ((got < 0 && errno == EINTR) || (got == 0 && clock_now() < running && helper_runs()));
	return got > 0;
}

/* Waits for the reply of the helper, to `until` at most even if a copy makes progress. Returns its descriptor, or -1
 * and errno. */
static int fileopener_await(struct reply *reply, uint64_t until)
{
	int fd;

	do {
		if (!wait_for_reply(until)) {
			errno = ETIMEDOUT;
			return -1;
		}
		if (fdmessage_take(opener.socket, reply, sizeof(*reply), &fd) != (ssize_t)sizeof(*reply)) {
			errno = EPIPE;
			return -1;
		}
	} while (reply->error == PROGRESS);
	if (fd < 0)
		errno = reply->error;
	return fd;
}

static int fileopener_exchange(const struct request *request, struct reply *reply)
{
	size_t n = offsetof(struct request, path) + request->n + 1;
	uint64_t from = clock_now(), waited;
	int fd = -1, error = EPIPE;

	if (fdmessage_put(opener.socket, request, n, -1)) {
		fd = fileopener_await(reply, until_of(request->pid));
		error = errno;
	}
	waited = clock_now() - from;
	opener.waited += waited;
	if (request->pid)
		process_of(request->pid)->ns += waited;
	errno = error;
	return fd;
}

/* Returns true if a request failed without a reply, and abandons the helper: its late reply would be taken for that of
 * the next request. */
static bool is_silence(int fd, int error)
{
	if (fd >= 0 || (error != ETIMEDOUT && error != EPIPE))
		return false;
	leave_helper();
	return true;
}

/* Sets *mount_ns to the inode of the mount namespace of a process; 0: pjfold's own, or unknown. Returns false if the
 * helper does not reply. */
static bool find_where(int32_t pid, uint64_t *mount_ns)
{
	struct request request = { .kind = WHERE, .pid = pid };
	struct reply reply = { 0 };
	int fd;

	*mount_ns = pid && pid == opener.where_pid ? opener.where : 0;
	if (!pid || pid == opener.where_pid)
		return true;
	errno = 0;
	fd = fileopener_exchange(&request, &reply);
	if (is_silence(fd, errno))
		return false;
	opener.where_pid = pid;
	*mount_ns = opener.where = reply.mount_ns;
	return true;
}

/* Counts a file that is skipped, or was given up, and returns -1 and ETIMEDOUT. */
static int fileopener_skip(int32_t pid)
{
	opener.skipped++;
	if (pid)
		process_of(pid)->skipped++;
	errno = ETIMEDOUT;
	return -1;
}

static int fileopener_query(const struct request *request)
{
	struct reply reply = { 0 };
	uint64_t mount_ns = 0;
	struct opener_keys keys;
	int fd, error;

	if (!fileopener_start_helper())
		return open_request(request);
	if (request->kind != STAT && !find_where(request->pid, &mount_ns)) {
		keys = places_of(request, 0);
		note_silence(&keys);
		return fileopener_skip(request->pid);
	}
	keys = places_of(request, mount_ns);
	if (is_skipped(&keys))
		return fileopener_skip(request->pid);
	errno = 0;
	fd = fileopener_exchange(request, &reply);
	error = errno;
	if (is_silence(fd, error)) {
		note_silence(&keys);
		fileopener_skip(request->pid);
	}
	errno = error;
	return fd;
}

/* Makes the request for `path`; its other members are set. */
static int open_by(struct request request, struct str path)
{
	int fd, error;

	request.n = (uint32_t)path.n;
	if (path.n == 0 || path.n > PATH_MAX_BYTES || memchr(path.p, 0, path.n)) {
		errno = ENOENT;
		return -1;
	}
	memcpy(request.path, path.p, path.n);
	pthread_mutex_lock(&opener.lock);
	fd = fileopener_query(&request);
	error = errno;
	pthread_mutex_unlock(&opener.lock);
	errno = error;
	return fd;
}

static int open_as(enum kind kind, pid_t pid, struct str path)
{
	return open_by((struct request){ .kind = kind, .pid = pid }, path);
}

int fileopener_mapped(pid_t pid, struct str path, const struct file_id *id, uint64_t until)
{
	if (!id->inode && !pid && !until) {
		errno = ENODATA;
		return -1;
	}
	return open_by((struct request){ .kind = pid ? INSIDE : BY_PATH, .pid = pid, .until = until, .id = *id }, path);
}

int fileopener_path(const char *path)
{
	return open_as(BY_PATH, 0, str_of(path));
}

int fileopener_plain(const char *path)
{
	return open_as(PLAIN, 0, str_of(path));
}

int fileopener_inside(pid_t pid, struct str path)
{
	return open_as(INSIDE, pid, path);
}

int fileopener_map_inside(pid_t pid, struct str path)
{
	return open_as(MAP_INSIDE, pid, path);
}

int fileopener_stat(pid_t pid)
{
	char path[48];

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	return open_as(STAT, pid, str_of(path));
}

unsigned fileopener_skipped(void)
{
	return opener.skipped;
}

size_t fileopener_waits(struct fileopener_wait *waits, size_t max)
{
	size_t n = 0;

	for (size_t i = 0; i < PROCESSES; i++) {
		struct fileopener_wait wait = opener.process[i];
		size_t at;

		if (!wait.skipped)
			continue;
		for (at = n; at > 0 && (waits[at - 1].ns < wait.ns ||
					(waits[at - 1].ns == wait.ns && waits[at - 1].pid > wait.pid));
		     at--)
			if (at < max)
				waits[at] = waits[at - 1];
		if (at < max)
			waits[at] = wait;
		n += n < max;
	}
	return n;
}
