/* SPDX-License-Identifier: Apache-2.0 */
#include "record/unwind/cfistarter.h"

#include "common/process/helperprocess.h"
#include "common/process/fdmessage.h"
#include "record/unwind/cfimaker.h"
#include "common/process/urgency.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

struct started {
	pid_t opener, parser; /* pids of the two processes; 0: not started */
};

/* ---- starter process --------------------------------------------------------------------------------------------- */

static void run_opener(void *proc)
{
	cfiopener_run(HELPERPROCESS_FD, HELPERPROCESS_FD + 1, proc);
}

static void cfistarter_run_parser(void *to)
{
	(void)to;
	cfiparser_run(HELPERPROCESS_FD);
}

/* Starts an opener and its parser; recorder is the opener's end of the socket to the recorder. A parser without opener
 * ends by itself, because no other process has the other end of its socket. */
static struct started start_both(int recorder, const char *proc)
{
	struct started started = { 0 };
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return started;
	started.parser = helperprocess_start_sibling(
		&(struct helperprocess){ "pjrecord-table", &pair[1], 1, URGENCY_SOON, cfistarter_run_parser, NULL });
	if (started.parser)
		started.opener = helperprocess_start_sibling(
			&(struct helperprocess){ "pjrecord-open", (int[]){ recorder, pair[0] }, 2, URGENCY_SOON,
						 run_opener, (void *)(uintptr_t)proc });
	close(pair[0]);
	close(pair[1]);
	return started;
}

static void cfistarter_run_starter(void *to)
{
	const struct cfistarter *cfistarter = to;
	int recorder;
	char any;

	while (fdmessage_take(HELPERPROCESS_FD, &any, sizeof(any), &recorder) > 0) {
		struct started started = { 0 };

		if (recorder >= 0) {
			started = start_both(recorder, cfistarter->proc);
			close(recorder);
		}
		if (!fdmessage_put(HELPERPROCESS_FD, &started, sizeof(started), -1))
			break;
	}
}

/* ---- recorder ---------------------------------------------------------------------------------------------------- */

static void fork_starter(struct cfistarter *cfistarter)
{
	static const struct timeval max = { .tv_usec = CFISTARTER_WAIT_MS * 1000 };
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return;
	setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &max, sizeof(max));
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
	fork_starter(cfistarter);
}

void cfistarter_close(struct cfistarter *cfistarter)
{
	if (cfistarter->socket >= 0)
		close(cfistarter->socket);
	cfistarter->socket = -1;
	if (cfistarter->pid) {
		/* The starter waits for nothing but the recorder, so it ends at once. */
		kill(cfistarter->pid, SIGKILL);
		waitpid(cfistarter->pid, NULL, 0);
	}
	cfistarter->pid = 0;
}

bool cfistarter_begin(struct cfistarter *cfistarter, int *socket, pid_t *opener, pid_t *parser)
{
	struct started started = { 0 };
	int pair[2], none;

	if (!cfistarter->pid)
		fork_starter(cfistarter);
	if (!cfistarter->pid || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return false;
	if (!fdmessage_send(cfistarter->socket, "", 1, pair[1]) ||
	    fdmessage_receive(cfistarter->socket, &started, sizeof(started), &none, 0) <= 0)
		/* The starter was killed or gets no CPU time. The next call forks another one. */
		cfistarter_close(cfistarter);
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
