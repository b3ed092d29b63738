/* SPDX-License-Identifier: Apache-2.0 */
#include "fdmessage.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

union control {
	struct cmsghdr head;
	char bytes[CMSG_SPACE(sizeof(int))];
};

bool fdmessage_send(int socket, const void *p, size_t n, int fd)
{
	union control control = { .head = { .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS } };
	struct iovec io = { (void *)(uintptr_t)p, n };
	struct msghdr m = { .msg_iov = &io, .msg_iovlen = 1 };

	if (fd >= 0) {
		memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
		m.msg_control = control.bytes;
		m.msg_controllen = sizeof(control.bytes);
	}
	return sendmsg(socket, &m, MSG_NOSIGNAL) == (ssize_t)n;
}

/* The descriptor of a message: of none and of several -1. All of them are ours now, and the sender may have sent as many as there is space
 * for: those that are not returned are closed. */
static int only_descriptor(struct msghdr *m)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(m);
	size_t n = c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS ? (c->cmsg_len - CMSG_LEN(0)) / sizeof(int) : 0;
	int fd[sizeof(union control) / sizeof(int)];

	if (n)
		memcpy(fd, CMSG_DATA(c), n * sizeof(*fd));
	if (n == 1)
		return fd[0];
	for (size_t i = 0; i < n; i++)
		close(fd[i]);
	return -1;
}

int fdmessage_receive(int socket, void *p, size_t n, int *fd, int flags)
{
	union control control;
	struct iovec io = { p, n };
	struct msghdr m = { .msg_iov = &io, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof(control.bytes) };
	ssize_t got = recvmsg(socket, &m, flags | MSG_CMSG_CLOEXEC);

	*fd = got > 0 ? only_descriptor(&m) : -1;
	if (got <= 0)
		return (int)got;
	if ((size_t)got == n && !(m.msg_flags & MSG_TRUNC))
		return 1;
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	errno = EBADMSG;
	return -1;
}
