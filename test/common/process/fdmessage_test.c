/* Messages with descriptors: each is received, is close-on-exec, or is closed; none leaks, whatever the other end
 * sends. */
/* covers: common/process/fdmessage.c */
#include "common/process/fdmessage.h"

#include "test/lib/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int pair[2], one;

static unsigned open_fds(void)
{
	unsigned n = 0;

	for (int fd = 0; fd < 100; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static void send_many(size_t n, size_t bytes)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(8 * sizeof(int))];
	} control = { .head = { CMSG_LEN(n * sizeof(int)), SOL_SOCKET, SCM_RIGHTS } };
	struct iovec io = { "abcd", bytes };
	struct msghdr m = { .msg_iov = &io,
			    .msg_iovlen = 1,
			    .msg_control = control.bytes,
			    .msg_controllen = CMSG_SPACE(n * sizeof(int)) };

	for (size_t i = 0; i < n; i++)
		memcpy(CMSG_DATA(&control.head) + i * sizeof(int), &one, sizeof(int));
	sendmsg(pair[1], &m, 0);
}

static void check_some(void)
{
	unsigned before = open_fds();
	int fd, all[FDMESSAGE_MAX], two[2] = { one, one };
	char bytes[8];

	ok(fdmessage_send_soon(pair[1], "abcd", 4, two, 2), "two descriptors are sent");
	is_u64((uint64_t)fdmessage_receive_some_all(pair[0], bytes, sizeof(bytes), all, MSG_DONTWAIT), 4,
	       "  and received");
	ok(all[0] >= 0 && all[1] >= 0 && all[2] == -1 && all[3] == -1, "  both");
	ok(fcntl(all[0], F_GETFD) == FD_CLOEXEC && fcntl(all[1], F_GETFD) == FD_CLOEXEC, "  close-on-exec");
	close(all[0]);
	close(all[1]);
	fdmessage_send_soon(pair[1], "abcd", 4, two, 2);
	is_u64((uint64_t)fdmessage_take(pair[0], bytes, sizeof(bytes), &fd), 4, "where one is expected");
	ok(fd == -1, "  two are none");
	fdmessage_send(pair[1], "abcd", 4, -1);
	ok(fdmessage_take(pair[0], bytes, sizeof(bytes), &fd) == 4 && fd == -1, "  and none is none");
	fdmessage_send(pair[1], "abcd", 4, one);
	ok(fdmessage_take(pair[0], bytes, 3, &fd) == -1 && errno == EBADMSG && fd == -1, "a message that is too long");
	send_many(8, 4);
	fdmessage_receive_some_all(pair[0], bytes, sizeof(bytes), all, 0);
	for (size_t i = 0; i < FDMESSAGE_MAX; i++)
		if (all[i] >= 0)
			close(all[i]);
	send_many(8, 4);
	ok(fdmessage_take(pair[0], bytes, sizeof(bytes), &fd) == 4 && fd == -1,
	   "more descriptors than are ever received are none");
	send_many(8, 0);
	ok(fdmessage_take(pair[0], bytes, sizeof(bytes), &fd) == 0 && fd == -1,
	   "an empty message is an end, whatever comes with it");
	is_u64(open_fds(), before, "no descriptor is left open");
}

static void check_soon(void)
{
	static char bytes[1024];
	unsigned n = 0;
	int fd;

	ok(fdmessage_receive_some(pair[0], bytes, sizeof(bytes), &fd, MSG_DONTWAIT) == -1 && errno == EAGAIN,
	   "no message: EAGAIN");
	while (n < 100000 && fdmessage_send_soon(pair[1], bytes, sizeof(bytes), NULL, 0))
		n++;
	ok(n > 0 && n < 100000 && errno == EAGAIN, "a full socket: EAGAIN");
	close(pair[0]);
	fdmessage_send_soon(pair[1], bytes, 1, NULL, 0); /* ECONNRESET: messages were not read */
	ok(!fdmessage_send_soon(pair[1], bytes, 1, NULL, 0) && errno == EPIPE, "a closed one: EPIPE, and no signal");
}

int main(void)
{
	one = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return 1;
	check_some();
	check_soon();
	return done();
}
