/* SPDX-License-Identifier: Apache-2.0 */
#include "jmap/perfmap/publisher.h"

#include "common/arena.h"
#include "common/process/capabilities.h"
#include "common/diag.h"
#include "common/process/fdmessage.h"
#include "jmap/perfmap/mapfile.h"
#include "common/syscalls.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SOCKET_FD = 3 };

struct publisher {
	int socket;
	pid_t process;
};

/* Request of pjmap to the publisher; the message also has the descriptor of the map. */
struct request_to_publish {
	pid_t pid;
	struct taskid_user owner;
	/* size of the map in bytes */
	uint64_t n;
	bool durable;
};

/* Steps at which mapfile_put can fail; index 0: success. The publisher sends an index of this array, since pjmap cannot
 * use a pointer of another process. */
static const char *const failures[] = { NULL, "cannot open", "cannot write to", "cannot replace it in" };

/* Answer of the publisher to pjmap. */
struct answer {
	/* errno of the failed step */
	int error;
	/* index of the failed step in failures[]; 0 on success */
	unsigned failure;
};

/* ---- functions of the publisher process ------------------------------------------------------------------------ */

/* Receives a request into *publish. Returns the descriptor of the map, or -1 if pjmap has ended or the message is
 * invalid. */
static int publisher_receive(struct request_to_publish *publish)
{
	int fd;
	ssize_t got = fdmessage_take(SOCKET_FD, publish, sizeof(*publish), &fd);

	if (got == (ssize_t)sizeof(*publish))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static struct answer publisher_publish(const char *dir, const struct request_to_publish *publish, int fd)
{
	struct answer answer = { 0 };
	const char *what;
	char name[64];

	snprintf(name, sizeof(name), "perf-%d.map", (int)publish->pid);
	what = mapfile_put(dir, name, fd, publish->n, &publish->owner, publish->durable);
	answer.error = errno;
	for (unsigned i = 1; what && i < countof(failures); i++)
		if (strcmp(what, failures[i]) == 0)
			answer.failure = i;
	return answer;
}

/* Prepares the child: ignores signals from the terminal, which are meant for pjmap, and closes all descriptors except
 * `socket` and stderr; stdin and stdout become /dev/null. The publisher ends when pjmap closes the socket. */
static void leave_all(int socket)
{
	static const int ignored[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE };
	sigset_t none;

	for (size_t i = 0; i < countof(ignored); i++)
		signal(ignored[i], SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_NAME, "pjmap-publish");
	if (socket != SOCKET_FD)
		dup2(socket, SOCKET_FD);
	syscall(SYS_close_range, (unsigned)SOCKET_FD + 1, ~0u, 0u);
	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	open("/dev/null", O_RDONLY);
	open("/dev/null", O_WRONLY);
}

static NORETURN void publisher_run(const char *dir, int socket)
{
	const uint64_t needed =
		CAPABILITY_BIT(CAP_CHOWN) | CAPABILITY_BIT(CAP_DAC_OVERRIDE) | CAPABILITY_BIT(CAP_FOWNER);
	struct request_to_publish publish;
	int fd;

	leave_all(socket);
	if (!capabilities_limit(needed))
		_exit(1);
	while ((fd = publisher_receive(&publish)) >= 0) {
		struct answer answer = publisher_publish(dir, &publish, fd);

		close(fd);
		if (!fdmessage_send(SOCKET_FD, &answer, sizeof(answer), -1))
			break;
	}
	_exit(0);
}

/* ---- functions that pjmap calls ---------------------------------------------------------------------------------- */

struct publisher *publisher_start(const char *dir)
{
	struct publisher *publisher = mem_alloc(sizeof(*publisher), 1);
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		die_errno("cannot create a socket");
	publisher->process = fork();
	if (publisher->process < 0)
		die_errno("cannot start a process");
	if (publisher->process == 0)
		publisher_run(dir, pair[1]);
	close(pair[1]);
	publisher->socket = pair[0];
	return publisher;
}

void publisher_end(struct publisher *publisher)
{
	if (!publisher)
		return;
	close(publisher->socket);
	while (waitpid(publisher->process, NULL, 0) < 0 && errno == EINTR)
		;
	free(publisher);
}

const char *publisher_put(struct publisher *publisher, pid_t pid, int from, uint64_t n, const struct taskid_user *owner,
			  bool durable)
{
	struct request_to_publish publish = { .pid = pid, .owner = *owner, .n = n, .durable = durable };
	struct answer answer = { 0 };
	bool sent = fdmessage_send(publisher->socket, &publish, sizeof(publish), from);
	ssize_t got = -1;

	while (sent && (got = recv(publisher->socket, &answer, sizeof(answer), 0)) < 0 && errno == EINTR)
		;
	if (got == 0)
		errno = EPIPE;
	if (got != (ssize_t)sizeof(answer) || answer.failure >= countof(failures))
		return "cannot write to";
	errno = answer.error;
	return failures[answer.failure];
}
