/* SPDX-License-Identifier: Apache-2.0 */
#include "jmap/execs.h"

#include <errno.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int execs_open(void)
{
	struct sockaddr_nl here = { .nl_family = AF_NETLINK, .nl_groups = CN_IDX_PROC };
	enum proc_cn_mcast_op op = PROC_CN_MCAST_LISTEN;
	struct cn_msg message = { .id = { CN_IDX_PROC, CN_VAL_PROC }, .len = sizeof(op) };
	char listen[NLMSG_SPACE(sizeof(message) + sizeof(op))] __attribute__((aligned(NLMSG_ALIGNTO))) = { 0 };
	struct nlmsghdr *head = (struct nlmsghdr *)listen;
	int fd = socket(PF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_CONNECTOR), size = 1 << 20,
	    saved;

	if (fd < 0)
		return -1;
	*head = (struct nlmsghdr){ .nlmsg_len = NLMSG_LENGTH(sizeof(message) + sizeof(op)), .nlmsg_type = NLMSG_DONE };
	memcpy(NLMSG_DATA(head), &message, sizeof(message));
	memcpy((char *)NLMSG_DATA(head) + sizeof(message), &op, sizeof(op));
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	if (bind(fd, (struct sockaddr *)&here, sizeof(here)) == 0 &&
	    send(fd, listen, head->nlmsg_len, 0) == (ssize_t)head->nlmsg_len)
		return fd;
	saved = errno;
	close(fd);
	errno = saved;
	return -1;
}

int execs_read(int fd, pid_t *pid, int max)
{
	char buffer[8192] __attribute__((aligned(NLMSG_ALIGNTO)));
	struct sockaddr_nl from = { 0 };
	int n = 0;

	while (n < max) {
		socklen_t size = sizeof(from);
		ssize_t got = recvfrom(fd, buffer, sizeof(buffer), 0, (struct sockaddr *)&from, &size);
		struct nlmsghdr *head = (struct nlmsghdr *)buffer;

		if (got < 0)
			/* One of the errors is ENOBUFS: the kernel dropped messages because the socket buffer was
			 * full. */
			return errno == EAGAIN || errno == EINTR ? n : -1;
		if (from.nl_pid != 0)
			/* Ignores messages that do not come from the kernel: another process sent them. */
			continue;
		for (; NLMSG_OK(head, (size_t)got) && n < max; head = NLMSG_NEXT(head, got)) {
			struct cn_msg *message = NLMSG_DATA(head);
			struct proc_event event;

			if (head->nlmsg_len < NLMSG_LENGTH(sizeof(*message)) + sizeof(event))
				continue;
			memcpy(&event, message->data, sizeof(event));
			if (message->id.idx == CN_IDX_PROC && event.what == PROC_EVENT_EXEC)
				pid[n++] = event.event_data.exec.process_tgid;
		}
	}
	return n;
}
