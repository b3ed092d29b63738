/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/opener/fileopener.h"

#include "common/filter/broker.h"
#include "common/process/childend.h"
#include "common/clocks.h"
#include "common/diag.h"
#include "common/process/fdmessage.h"
#include "common/process/taskid.h"
#include "common/hash.h"
#include "fold/opener/openerhelper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

/* PLACES: size of the table of files, directories and mount namespaces that do not respond; PROCESSES: size of the
 * table of processes. WAITS_FULL: number of timed-out waits that may take FILEOPENER_MS; further waits take SHORT_MS.
 * RUNNING_MS: maximum wait while the helper is running, in ms. DIRECTORY_MAX: number of files that do not respond after
 * which all files of their directory are skipped. */
enum { PLACES = 256, WAITS_FULL = 3, SHORT_MS = 100, RUNNING_MS = 5000, DIRECTORY_MAX = 3, PROCESSES = 256 };
#define MS_NS (SECOND_NS / 1000)

static struct {
	pthread_mutex_t lock;
	int control, socket; /* sockets to pjfold-start and to the helper (openerhelper.h); -1: none */
	int pidfd;           /* pidfd of pjfold-start; -1: none */
	pid_t helper;
	unsigned waits, skipped; /* waits: number of waits that timed out; skipped: number of skipped files */
	/* Hash table of files, directories and mount namespaces that do not respond. place: their keys; 0: the element
	 * is empty. count: number of files that did not respond; 1 for the key of a file. */
	uint64_t place[PLACES];
	uint8_t count[PLACES];
	int32_t where_pid; /* pid of the last lookup of a mount namespace; `where` is the inode that the lookup found */
	uint64_t where;
	struct fileopener_wait process[PROCESSES]; /* by pid modulo PROCESSES; pid 0: the element is empty */
	uint64_t waited;                           /* total time in ns for which pjfold waited for replies */
} opener = { .lock = PTHREAD_MUTEX_INITIALIZER, .control = -1, .socket = -1, .pidfd = -1 };

/* Ends pjfold-start, and with it the helper. Waits for the end of pjfold-start unless the helper was abandoned: such a
 * helper may not end before its file system responds. */
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
		openerhelper_become_starter(pair[1], unprivileged);
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
	struct opener_reply reply = { 0 };

	if (opener.socket >= 0)
		return true;
	fileopener_start(false);
	if (opener.control < 0 || !fdmessage_put(opener.control, "", 1, -1) ||
	    fdmessage_take(opener.control, &reply, sizeof(reply), &opener.socket) != (ssize_t)sizeof(reply))
		return false;
	opener.helper = (pid_t)reply.mount_ns;
	return opener.socket >= 0;
}

/* Abandons the helper, which may hang. pjfold-start kills the abandoned helper when it starts the next one. */
static void leave_helper(void)
{
	close(opener.socket);
	opener.socket = -1;
}

/* ---- keys of files that do not respond -------------------------------------------------------------------------- */

struct opener_keys {
	/* file: key of the file. directory: key of its directory or, if elsewhere is true, of its mount namespace. */
	uint64_t file, directory;
	bool elsewhere; /* true: the file is in another mount namespace */
};

static uint64_t fileopener_key(uint64_t what, struct str bytes)
{
	return (hash_bytes(bytes.p, bytes.n) ^ what) | 1;
}

static struct opener_keys places_of(const struct opener_request *request, uint64_t mount_ns)
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

/* Returns the element of a process in opener.process. A process whose pid has the same index replaces the earlier
 * process, whose counts are lost; the limit for all requests holds nevertheless. */
static struct fileopener_wait *process_of(int32_t pid)
{
	struct fileopener_wait *process = &opener.process[(uint32_t)pid % PROCESSES];

	if (process->pid != pid)
		*process = (struct fileopener_wait){ .pid = pid };
	return process;
}

/* Returns the time (clock_now(), ns) at which pjfold gives up a request for a file of a process: when the first of
 * three limits is reached, for the file, for the process and for all requests. If a limit is used up, SHORT_MS remain,
 * because local file systems respond within that time. pid 0: no process. */
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

/* ---- requests to the helper ------------------------------------------------------------------------------------- */

/* Returns true if the helper is in task state R: it runs or waits for a CPU, so no file system blocks the helper.
 * Returns false in any other state. */
static bool helper_runs(void)
{
	char name[48], stat[512];
	int fd;
	ssize_t got;

	snprintf(name, sizeof(name), "/proc/%d/stat", (int)opener.helper);
	fd = broker_open(AT_FDCWD, name, 0);
	got = fd >= 0 ? read(fd, stat, sizeof(stat)) : -1;
	if (fd >= 0)
		close(fd);
	return taskid_state((struct str){ stat, got > 0 ? (size_t)got : 0 }) == 'R';
}

/* Waits for a reply or a report of progress and returns true. Returns false if the helper sends neither within
 * FILEOPENER_MS (SHORT_MS after WAITS_FULL timeouts), or neither before `until`. A helper that runs may take up to
 * RUNNING_MS. */
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

/* Waits for the reply of the helper, but not beyond `until`, even if a copy makes progress. Returns the descriptor in
 * the reply, or -1 with errno. */
static int fileopener_await(struct opener_reply *reply, uint64_t until)
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
	} while (reply->error == OPENER_PROGRESS);
	if (fd < 0)
		errno = reply->error;
	return fd;
}

static int fileopener_exchange(const struct opener_request *request, struct opener_reply *reply)
{
	size_t n = offsetof(struct opener_request, path) + request->n + 1;
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

/* Returns true if a request failed without a reply, and abandons the helper then: its late reply would pass for the
 * reply to the next request. Returns false if there was a reply. fd, error: descriptor of the reply, or -1 and the
 * errno of the request. */
static bool is_silence(int fd, int error)
{
	if (fd >= 0 || (error != ETIMEDOUT && error != EPIPE))
		return false;
	leave_helper();
	return true;
}

/* Sets *mount_ns to the inode of the mount namespace of a process; 0: the namespace is pjfold's own, or is unknown.
 * Returns false if the helper does not reply. */
static bool find_where(int32_t pid, uint64_t *mount_ns)
{
	struct opener_request request = { .kind = OPENER_WHERE, .pid = pid };
	struct opener_reply reply = { 0 };
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

/* Counts a file of process `pid` (0: of no process) as skipped: in the number of all skipped files, and in the number
 * of the process. Returns -1 and sets errno to ETIMEDOUT. */
static int fileopener_skip(int32_t pid)
{
	opener.skipped++;
	if (pid)
		process_of(pid)->skipped++;
	errno = ETIMEDOUT;
	return -1;
}

static int fileopener_query(const struct opener_request *request)
{
	struct opener_reply reply = { 0 };
	uint64_t mount_ns = 0;
	struct opener_keys keys;
	int fd, error;

	if (!fileopener_start_helper())
		return openerhelper_open(request);
	if (request->kind != OPENER_STAT && !find_where(request->pid, &mount_ns)) {
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

/* Opens `path` by way of the helper; the other members of `request` are set. Returns a descriptor, or -1 with errno. */
static int open_by(struct opener_request request, struct str path)
{
	int fd, error;

	request.n = (uint32_t)path.n;
	if (path.n == 0 || path.n > OPENER_PATH_MAX || memchr(path.p, 0, path.n)) {
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

static int open_as(enum opener_kind kind, pid_t pid, struct str path)
{
	return open_by((struct opener_request){ .kind = kind, .pid = pid }, path);
}

int fileopener_mapped(pid_t pid, struct str path, const struct file_id *id, uint64_t until)
{
	if (!id->inode && !pid && !until) {
		errno = ENODATA;
		return -1;
	}
	return open_by(
		(struct opener_request){
			.kind = pid ? OPENER_INSIDE : OPENER_BY_PATH, .pid = pid, .until = until, .id = *id },
		path);
}

int fileopener_path(const char *path)
{
	return open_as(OPENER_BY_PATH, 0, str_of(path));
}

int fileopener_plain(const char *path)
{
	return open_as(OPENER_PLAIN, 0, str_of(path));
}

int fileopener_inside(pid_t pid, struct str path)
{
	return open_as(OPENER_INSIDE, pid, path);
}

int fileopener_map_inside(pid_t pid, struct str path)
{
	return open_as(OPENER_MAP_INSIDE, pid, path);
}

int fileopener_stat(pid_t pid)
{
	char path[48];

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	return open_as(OPENER_STAT, pid, str_of(path));
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
