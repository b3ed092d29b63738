/* SPDX-License-Identifier: Apache-2.0 */
#include "jmap/attach/attach.h"

#include "common/clocks.h"
#include "jmap/attach/replies.h"
#include "common/files/fullio.h"
#include "common/syscalls.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* age in seconds from which an existing trigger file (.attach_pidN) is deleted, since a killed process has left it */
#define STALE_S 60
#define QUIT_BIT (UINT64_C(1) << (SIGQUIT - 1))

/* ---- state of the JVM's process -------------------------------------------------------------------------------- */

static bool read_signals(const struct targetuser *user, struct replies_signals *signals)
{
	struct text text = { 0 };
	bool good = fullio_read_at(user->process, "status", &text, 65536) && replies_signals(text_view(&text), signals);

	text_free(&text);
	return good;
}

/* ---- the JVM's socket -------------------------------------------------------------------------------------------- */

static void attach_name_of(const struct targetuser *user, const char *what, char name[TARGETUSER_NAME])
{
	snprintf(name, TARGETUSER_NAME, ".%s_pid%d", what, (int)user->inner);
}

/* Opens the JVM's socket /tmp/.java_pidN with O_PATH. Returns -1 if the file does not exist, is no socket, or belongs
 * to another user. */
static int find_socket(const struct targetuser *user)
{
	struct open_how how = { .flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
				.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS };
	char name[TARGETUSER_NAME];
	struct stat status;
	int fd;

	attach_name_of(user, "java", name);
	fd = (int)syscall(SYS_openat2, user->tmp, name, &how, sizeof(how));
	if (fd >= 0 && fstat(fd, &status) == 0 && S_ISSOCK(status.st_mode) && status.st_uid == user->uid)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Connects to the JVM's socket. socket_path: O_PATH descriptor of the socket file. Returns a descriptor, or -1 and
 * errno; EPERM means that another process listens on the socket. */
static int connect_to(const struct targetuser *user, int socket_path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct timeval wait = { ATTACH_START_MS / 1000, 0 };
	struct ucred peer;
	socklen_t size = sizeof(peer);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), saved;

	if (fd < 0)
		return -1;
	snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d", socket_path);
	/* SO_SNDTIMEO limits the time for which connect blocks while the JVM's backlog is full. */
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0) {
		errno = EPERM;
		if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid == user->pid)
			return fd;
	}
	saved = errno;
	close(fd);
	errno = saved;
	return -1;
}

/* ---- making the JVM open its socket ---------------------------------------------------------------------------- */

/* The trigger file .attach_pidN, which makes the JVM open its socket on SIGQUIT. */
struct trigger {
	/* descriptor of the directory of the trigger file; -1 if no file was created */
	int folder;
	char name[TARGETUSER_NAME];
};

static bool create_in(struct trigger *trigger, int folder)
{
	struct stat status;
	int fd = -1;

	for (int attempt = 0; attempt < 2 && fd < 0; attempt++) {
		fd = openat(folder, trigger->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd >= 0 || errno != EEXIST)
			break;
		if (fstatat(folder, trigger->name, &status, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(status.st_mode) ||
		    status.st_uid != geteuid() || time(NULL) - status.st_mtime < STALE_S ||
		    unlinkat(folder, trigger->name, 0) < 0) {
			errno = EEXIST;
			break;
		}
	}
	if (fd < 0)
		return false;
	close(fd);
	trigger->folder = folder;
	return true;
}

static struct hotspot_reason create_trigger(const struct targetuser *user, struct trigger *trigger)
{
	int error;

	*trigger = (struct trigger){ .folder = -1 };
	attach_name_of(user, "attach", trigger->name);
	if (create_in(trigger, user->tmp) || (user->cwd >= 0 && errno != EEXIST && create_in(trigger, user->cwd)))
		return targetuser_fine();
	error = errno;
	if (error == EROFS)
		return guest_reason("ro-tmp", "its /tmp is read-only, so it cannot open its socket");
	if (error == EEXIST)
		return guest_reason("in-the-way",
				    "a %s exists in its /tmp already: another process attaches, or planted it",
				    trigger->name);
	return guest_reason(error == ENOSPC || error == EDQUOT ? "full" : "refused", "cannot create %s in its /tmp: %s",
			    trigger->name, strerror(error));
}

/* Waits up to ATTACH_START_MS for the JVM's socket and connects to it. Returns the descriptor of the connection, or -1
 * and errno; ETIMEDOUT means that the socket did not appear or accepts no connections. */
static int await_socket(const struct targetuser *user)
{
	uint64_t until = clock_now_ms() + ATTACH_START_MS;
	long ms = 2;

	do {
		struct timespec spec = { 0, ms * 1000000 };
		int at, fd;

		nanosleep(&spec, NULL);
		ms = ms < 50 ? ms * 2 : 50;
		at = find_socket(user);
		fd = at < 0 ? -1 : connect_to(user, at);
		if (at >= 0)
			close(at);
		if (fd >= 0 || (at >= 0 && errno != ECONNREFUSED))
			return fd;
	} while (clock_now_ms() < until);
	errno = ETIMEDOUT;
	return -1;
}

static struct hotspot_reason why_not_connected(int error)
{
	if (error == EPERM)
		return guest_reason("in-the-way", "another process listens on its socket");
	if (error == EACCES)
		return guest_reason("cred-rejected", "its socket may not be connected to");
	return guest_reason("timeout", "its socket cannot be connected to: %s", strerror(error));
}

static struct hotspot_reason may_be_woken(const struct targetuser *user, struct replies_signals *signals)
{
	if (!read_signals(user, signals))
		return guest_reason("gone", "it ended");
	if (signals->state == 'T' || signals->state == 't')
		return guest_reason("stopped", "it is stopped, and would answer only when it continues");
	if (!(signals->caught & QUIT_BIT))
		return guest_reason(
			"no-handler",
			"it does not handle SIGQUIT, which would end it: it is starting, or runs with -Xrs");
	return targetuser_fine();
}

static struct hotspot_reason attach_wake(const struct targetuser *user, int *fd)
{
	struct trigger trigger;
	struct replies_signals signals;
	struct hotspot_reason reason = may_be_woken(user, &signals);
	int error;

	*fd = -1;
	if (!reason.code)
		reason = create_trigger(user, &trigger);
	if (reason.code)
		return reason;
	if (syscall(SYS_pidfd_send_signal, user->pidfd, SIGQUIT, NULL, 0) < 0) {
		reason = guest_reason(errno == ESRCH ? "gone" : "no-permission", "cannot signal it: %s",
				      strerror(errno));
		unlinkat(trigger.folder, trigger.name, 0);
		return reason;
	}
	*fd = await_socket(user);
	error = errno;
	if (*fd < 0 && read_signals(user, &signals) && (signals.pending & QUIT_BIT))
		return guest_reason("timeout",
				    "it is stopped; %s stays in its /tmp, so that it does not print its stacks when it "
				    "continues",
				    trigger.name);
	unlinkat(trigger.folder, trigger.name, 0);
	if (*fd >= 0)
		return targetuser_fine();
	return error == ETIMEDOUT ? guest_reason("attach-disabled", "it did not open its socket within %d s",
						 ATTACH_START_MS / 1000) :
				    why_not_connected(error);
}

static struct hotspot_reason connect_or_wake(const struct targetuser *user, int *fd)
{
	int at = find_socket(user);

	*fd = at < 0 ? -1 : connect_to(user, at);
	if (at >= 0) {
		int error = errno;

		close(at);
		if (*fd >= 0)
			return targetuser_fine();
		/* ECONNREFUSED: the socket is of an earlier JVM with this pid, so this JVM must open a new one. */
		if (error != ECONNREFUSED)
			return why_not_connected(error);
	}
	return attach_wake(user, fd);
}

/* ---- sending a request ------------------------------------------------------------------------------------------- */

/* Waits until fd is ready for `events` (as in poll), or until clock_now_ms() reaches `until`; then returns false. */
static bool attach_ready(int fd, short events, uint64_t until)
{
	for (;;) {
		struct pollfd polled = { .fd = fd, .events = events };
		uint64_t now = clock_now_ms();

		if (now >= until)
			return false;
		if (poll(&polled, 1, (int)(until - now)) > 0)
			return true;
	}
}

static struct hotspot_reason attach_talk(int fd, struct str request, struct text *text)
{
	uint64_t until = clock_now_ms() + ATTACH_REPLY_MS;
	size_t before = text->n;

	while (request.n) {
		ssize_t got = attach_ready(fd, POLLOUT, until) ?
				      send(fd, request.p, request.n, MSG_NOSIGNAL | MSG_DONTWAIT) :
				      -1;

		if (got <= 0 && clock_now_ms() >= until)
			return guest_reason("timeout", "it does not read the request");
		if (got < 0 && errno != EAGAIN && errno != EINTR)
			return guest_reason("cred-rejected", "it closes the connection: %s", strerror(errno));
		if (got > 0)
			request = str_from(request, (size_t)got);
	}
	for (;;) {
		char buffer[4096];
		ssize_t n;

		if (!attach_ready(fd, POLLIN, until))
			return guest_reason("timeout",
					    "no answer within %d s: it is stopped, or serves another process",
					    ATTACH_REPLY_MS / 1000);
		n = recv(fd, buffer, sizeof(buffer), MSG_DONTWAIT);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (n < 0)
			return guest_reason("cred-rejected", "it closes the connection: %s", strerror(errno));
		if (n == 0)
			break;
		if (text->n - before + (size_t)n > ATTACH_MAX)
			return guest_reason("bad-reply", "its answer is too long");
		text_bytes(text, buffer, (size_t)n);
	}
	return text->n == before ? guest_reason("cred-rejected", "it closes the connection without an answer") :
				   targetuser_fine();
}

struct hotspot_reason attach_query(const struct targetuser *user, const char *const word[4], struct text *reply,
				   int *status)
{
	struct text request = { 0 };
	size_t before = reply->n;
	struct hotspot_reason reason;
	int fd;

	text_bytes(&request, "1", 2);
	for (unsigned i = 0; i < 4; i++)
		text_bytes(&request, word[i] ? word[i] : "", word[i] ? strlen(word[i]) + 1 : 1);
	reason = connect_or_wake(user, &fd);
	if (!reason.code)
		reason = attach_talk(fd, text_view(&request), reply);
	if (!reason.code && !replies_status(reply, before, status))
		reason = guest_reason("bad-reply", "its answer does not start with a number");
	if (fd >= 0)
		close(fd);
	text_free(&request);
	return reason;
}

/* ---- check without effect on the JVM --------------------------------------------------------------------------- */

struct hotspot_reason attach_check(const struct targetuser *user, bool refuses)
{
	struct statvfs filesystem;
	struct replies_signals signals;
	int at;

	if (refuses)
		return guest_reason("attach-disabled",
				    "it runs with -XX:+DisableAttachMechanism, and would print its stacks instead");
	at = find_socket(user);
	if (at >= 0) {
		close(at);
		return read_signals(user, &signals) && (signals.state == 'T' || signals.state == 't') ?
			       guest_reason("stopped", "it is stopped, and would not answer") :
			       targetuser_fine();
	}
	if (fstatvfs(user->tmp, &filesystem) == 0 && (filesystem.f_flag & ST_RDONLY))
		return guest_reason("ro-tmp", "its /tmp is read-only, so it cannot open its socket");
	return may_be_woken(user, &signals);
}
