/* SPDX-License-Identifier: Apache-2.0 */
#include "record/unwind/cfistarter.h"

#include "common/process/helperprocess.h"
#include "common/clocks.h"
#include "common/process/fdmessage.h"
#include "record/interpreters/interphelper.h"
#include "record/unwind/cfimaker.h"
#include "common/process/urgency.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* Request to pjrecord-start. START_PAIR carries the opener's end of its socket to the recorder, START_INTERPHELPER the
 * two descriptors of interphelper_fork. */
enum start { START_PAIR, START_INTERPHELPER };

/* Reply of pjrecord-start: pids of the processes that it has started; 0: not started. pjrecord-start sends each pid
 * soon after the fork, so that the recorder can reap the process even if the request fails later. complete: true in the
 * last message of a reply. */
struct started {
	pid_t opener, parser, interphelper;
	bool complete;
};

/* ---- functions that run in pjrecord-start ----------------------------------------------------------------------- */

static void run_opener(void *proc)
{
	cfiopener_run(HELPERPROCESS_FD, HELPERPROCESS_FD + 1, proc);
}

static void cfistarter_run_parser(void *to)
{
	(void)to;
	cfiparser_run(HELPERPROCESS_FD);
}

/* Starts an opener and its parser. recorder: the opener's end of the socket to the recorder. Returns their pids; 0 for
 * a process that was not started. If only the parser starts, it ends by itself, because no process holds the other end
 * of its socket. */
static struct started start_both(int recorder, const char *proc)
{
	struct started started = { 0 };
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return started;
	started.parser = helperprocess_start_sibling(
		&(struct helperprocess){ "pjrecord-table", &pair[1], 1, URGENCY_SOON, cfistarter_run_parser, NULL });
	if (started.parser && fdmessage_put(HELPERPROCESS_FD, &started, sizeof(started), -1))
		started.opener = helperprocess_start_sibling(
			&(struct helperprocess){ "pjrecord-open", (int[]){ recorder, pair[0] }, 2, URGENCY_SOON,
						 run_opener, (void *)(uintptr_t)proc });
	close(pair[0]);
	close(pair[1]);
	return started;
}

/* Receives a request and its descriptors. Returns false if the recorder has closed the socket. */
static bool cfistarter_receive(char *start, int fd[FDMESSAGE_MAX])
{
	int got;

	do
		got = fdmessage_receive_all(HELPERPROCESS_FD, start, sizeof(*start), fd, 0);
	while (got < 0 && errno == EINTR);
	return got > 0;
}

static void cfistarter_run_starter(void *to)
{
	const struct cfistarter *cfistarter = to;
	int fd[FDMESSAGE_MAX];
	char start;

	while (cfistarter_receive(&start, fd)) {
		struct started started = { 0 };

		if (start == START_PAIR && fd[0] >= 0)
			started = start_both(fd[0], cfistarter->proc);
		else if (start == START_INTERPHELPER && fd[1] >= 0)
			started.interphelper = interphelper_fork(fd[0], fd[1], true);
		for (size_t i = 0; i < FDMESSAGE_MAX; i++)
			if (fd[i] >= 0)
				close(fd[i]);
		started.complete = true;
		if (!fdmessage_put(HELPERPROCESS_FD, &started, sizeof(started), -1))
			break;
	}
}

/* ---- functions that run in the recorder ------------------------------------------------------------------------- */

static void fork_starter(struct cfistarter *cfistarter)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return;
	cfistarter->pid = helperprocess_start(&(struct helperprocess){ "pjrecord-start", &pair[1], 1, URGENCY_SOON,
								       cfistarter_run_starter, cfistarter });
	close(pair[1]);
	if (cfistarter->pid)
		cfistarter->socket = pair[0];
	else
		close(pair[0]);
}

void cfistarter_open(struct cfistarter *cfistarter, const char *proc)
{
	*cfistarter = (struct cfistarter){ .proc = proc, .socket = -1 };
	pthread_mutex_init(&cfistarter->lock, NULL);
	fork_starter(cfistarter);
}

/* Receives the messages of a reply until it is complete, for at most wait_ms. The last one replaces *started. Returns
 * false if the reply is not complete. */
static bool receive_started(const struct cfistarter *cfistarter, struct started *started, unsigned wait_ms)
{
	struct pollfd polled = { .fd = cfistarter->socket, .events = POLLIN };
	uint64_t until = clock_now() + wait_ms * (SECOND_NS / 1000);
	int none;

	do {
		uint64_t now = clock_now();
		int ready = poll(&polled, 1, now < until ? (int)((until - now) / (SECOND_NS / 1000)) : 0);

		if (ready < 0 && errno == EINTR)
			continue;
		if (ready <= 0 ||
		    fdmessage_receive(cfistarter->socket, started, sizeof(*started), &none, MSG_DONTWAIT) <= 0)
			return false;
	} while (!started->complete);
	return true;
}

/* Kills and reaps processes, and sets their pids to 0. They have no request yet, so they do not hang. */
static void end_started(struct started *started)
{
	const pid_t pid[] = { started->opener, started->parser, started->interphelper };

	for (size_t i = 0; i < countof(pid); i++) {
		if (pid[i]) {
			kill(pid[i], SIGKILL);
			waitpid(pid[i], NULL, 0);
		}
	}
	*started = (struct started){ 0 };
}

/* Ends pjrecord-start. started: last message of an incomplete reply. Also ends the processes in this message, and in
 * those that arrived since. */
static void cfistarter_end(struct cfistarter *cfistarter, struct started *started)
{
	if (cfistarter->pid) {
		/* pjrecord-start blocks only on its socket to the recorder, so it ends at once. */
		kill(cfistarter->pid, SIGKILL);
		waitpid(cfistarter->pid, NULL, 0);
		receive_started(cfistarter, started, 0);
	}
	end_started(started);
	cfistarter->pid = 0;
	if (cfistarter->socket >= 0)
		close(cfistarter->socket);
	cfistarter->socket = -1;
}

void cfistarter_close(struct cfistarter *cfistarter)
{
	cfistarter_end(cfistarter, &(struct started){ 0 });
	pthread_mutex_destroy(&cfistarter->lock);
}

/* Sends a request to pjrecord-start, and returns its reply; all pids are 0 if it has none. */
static struct started cfistarter_request(struct cfistarter *cfistarter, enum start start, const int *fd, size_t fds)
{
	struct started started = { 0 };
	char request = (char)start;

	pthread_mutex_lock(&cfistarter->lock);
	if (!cfistarter->pid)
		fork_starter(cfistarter);
	if (cfistarter->pid && (!fdmessage_send_all(cfistarter->socket, &request, sizeof(request), fd, fds) ||
				!receive_started(cfistarter, &started, CFISTARTER_WAIT_MS)))
		/* pjrecord-start was killed, or got no CPU time for CFISTARTER_WAIT_MS. The next call forks another
		 * one. */
		cfistarter_end(cfistarter, &started);
	pthread_mutex_unlock(&cfistarter->lock);
	return started;
}

pid_t cfistarter_begin_interphelper(struct cfistarter *cfistarter, int socket, int memory)
{
	return cfistarter_request(cfistarter, START_INTERPHELPER, (int[]){ socket, memory }, 2).interphelper;
}

bool cfistarter_begin(struct cfistarter *cfistarter, int *socket, pid_t *opener, pid_t *parser)
{
	struct started started;
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return false;
	started = cfistarter_request(cfistarter, START_PAIR, &pair[1], 1);
	close(pair[1]);
	*socket = pair[0];
	*opener = started.opener;
	*parser = started.parser;
	if (started.opener)
		return true;
	close(pair[0]);
	if (started.parser) {
		kill(started.parser, SIGKILL);
		waitpid(started.parser, NULL, 0);
	}
	return false;
}
