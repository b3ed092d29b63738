/*
 * inflight.c - leaves descriptors in flight: it sends them in messages that stay unread. The kernel counts them for
 * the user, over all processes.
 *
 * inflight COUNT SECS
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include <signal.h>

enum { EACH = 100 };

static int send_descriptors(int socket, int n)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(EACH * sizeof(int))];
	} control = { .head = { .cmsg_len = CMSG_LEN((size_t)n * sizeof(int)),
				.cmsg_level = SOL_SOCKET,
				.cmsg_type = SCM_RIGHTS } };
	struct iovec vector = { (char[]){ 'x' }, 1 };
	struct msghdr message = { .msg_iov = &vector,
				  .msg_iovlen = 1,
				  .msg_control = control.bytes,
				  .msg_controllen = CMSG_SPACE((size_t)n * sizeof(int)) };
	int fd[EACH];

	for (int i = 0; i < n; i++)
		fd[i] = socket;
	memcpy(CMSG_DATA(&control.head), fd, (size_t)n * sizeof(int));
	return sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL) == 1;
}

int main(int argc, char **argv)
{
	struct rlimit limit;
	int left = argc > 1 ? atoi(argv[1]) : 0, pair[2];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	while (left > 0) {
		int n = left < EACH ? left : EACH;

		if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) < 0 || !send_descriptors(pair[0], n)) {
			perror("inflight");
			return 1;
		}
		left -= n;
	}
	puts("ready");
	fflush(stdout);
	sleep(argc > 2 ? (unsigned)atoi(argv[2]) : 0);
	return 0;
}
