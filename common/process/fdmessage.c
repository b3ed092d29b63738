/* SPDX-License-Identifier: Apache-2.0 */
#include "common/process/fdmessage.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

/* Number of further attempts to send a message with descriptors while too many descriptors of the user are in flight:
 * one every 1 ms, or without a pause if the sandbox forbids poll(). */
enum { CROWDED_TRIES = 50 };

union control {
	struct cmsghdr head;
	char bytes[CMSG_SPACE(FDMESSAGE_MAX * sizeof(int))];
};

static bool send_with(int socket, const void *p, size_t n, const int *fd, size_t fds, int flags)
{
	union control control = {
		.head = { .cmsg_len = CMSG_LEN(fds * sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS }
	};
	struct iovec vector = { (void *)(uintptr_t)p, n };
	struct msghdr header = { .msg_iov = &vector, .msg_iovlen = 1 };

	if (fds) {
		memcpy(CMSG_DATA(&control.head), fd, fds * sizeof(int));
		header.msg_control = control.bytes;
		header.msg_controllen = CMSG_SPACE(fds * sizeof(int));
	}
	for (unsigned tries = 0;; tries++) {
		if (sendmsg(socket, &header, flags | MSG_NOSIGNAL) == (ssize_t)n)
			return true;
		if (errno != ETOOMANYREFS || (flags & MSG_DONTWAIT) || tries == CROWDED_TRIES)
			return false;
		poll(NULL, 0, 1);
	}
}

void fdmessage_prepare(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur == limit.rlim_max)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

bool fdmessage_send_all(int socket, const void *p, size_t n, const int *fd, size_t fds)
{
	return send_with(socket, p, n, fd, fds, 0);
}

bool fdmessage_send_soon(int socket, const void *p, size_t n, const int *fd, size_t fds)
{
	return send_with(socket, p, n, fd, fds, MSG_DONTWAIT);
}

bool fdmessage_send(int socket, const void *p, size_t n, int fd)
{
	return fdmessage_send_all(socket, p, n, &fd, fd >= 0);
}

static void fdmessage_close_all(int *fd, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (fd[i] >= 0)
			close(fd[i]);
		fd[i] = -1;
	}
}

/* Copies the descriptors of a received message to fd. Closes those after the first FDMESSAGE_MAX: the buffer has space
 * for more, and all are already open in this process. */
static void take_descriptors(struct msghdr *header, int fd[FDMESSAGE_MAX])
{
	struct cmsghdr *c = CMSG_FIRSTHDR(header);
	bool some = c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS && c->cmsg_len > CMSG_LEN(0);
	size_t n = some ? (c->cmsg_len - CMSG_LEN(0)) / sizeof(int) : 0;
	int came[sizeof(union control) / sizeof(int)];

	if (!n)
		return;
	memcpy(came, CMSG_DATA(c), n * sizeof(int));
	memcpy(fd, came, (n < FDMESSAGE_MAX ? n : FDMESSAGE_MAX) * sizeof(int));
	if (n > FDMESSAGE_MAX)
		fdmessage_close_all(came + FDMESSAGE_MAX, n - FDMESSAGE_MAX);
}

ssize_t fdmessage_receive_some_all(int socket, void *p, size_t size, int fd[FDMESSAGE_MAX], int flags)
{
	union control control;
	struct iovec vector = { p, size };
	struct msghdr header = { .msg_iov = &vector,
				 .msg_iovlen = 1,
				 .msg_control = control.bytes,
				 .msg_controllen = sizeof(control.bytes) };
	ssize_t got = recvmsg(socket, &header, flags | MSG_CMSG_CLOEXEC);

	for (size_t i = 0; i < FDMESSAGE_MAX; i++)
		fd[i] = -1;
	if (got < 0)
		return got;
	take_descriptors(&header, fd);
	if (got > 0 && !(header.msg_flags & MSG_TRUNC))
		return got;
	fdmessage_close_all(fd, FDMESSAGE_MAX); /* closes the descriptors of an empty or refused message */
	errno = EBADMSG;
	return got ? -1 : 0;
}

int fdmessage_receive_all(int socket, void *p, size_t n, int fd[FDMESSAGE_MAX], int flags)
{
	ssize_t got = fdmessage_receive_some_all(socket, p, n, fd, flags);

	if (got <= 0 || (size_t)got == n)
		return got <= 0 ? (int)got : 1;
	fdmessage_close_all(fd, FDMESSAGE_MAX);
	errno = EBADMSG;
	return -1;
}

ssize_t fdmessage_receive_some(int socket, void *p, size_t size, int *fd, int flags)
{
	int all[FDMESSAGE_MAX];
	ssize_t got = fdmessage_receive_some_all(socket, p, size, all, flags);

	if (all[1] >= 0)
		fdmessage_close_all(all, FDMESSAGE_MAX);
	*fd = all[0];
	return got;
}

int fdmessage_receive(int socket, void *p, size_t n, int *fd, int flags)
{
	int all[FDMESSAGE_MAX], got = fdmessage_receive_all(socket, p, n, all, flags);

	if (all[1] >= 0)
		fdmessage_close_all(all, FDMESSAGE_MAX);
	*fd = all[0];
	return got;
}

bool fdmessage_put(int socket, const void *p, size_t n, int fd)
{
	bool sent;

	do
		sent = fdmessage_send(socket, p, n, fd);
	while (!sent && errno == EINTR);
	return sent;
}

ssize_t fdmessage_take(int socket, void *p, size_t size, int *fd)
{
	ssize_t got;

	do
		got = fdmessage_receive_some(socket, p, size, fd, 0);
	while (got < 0 && errno == EINTR);
	return got;
}
