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
	pid_t opener, parser; /* 0: not started */
};

/* ---- the process ----------------------------------------------------------------------------------------------- */

static void run_opener(void *proc)
{
	cfiopener_run(HELPERPROCESS_FD, HELPERPROCESS_FD + 1, proc);
}

static void cfistarter_run_parser(void *to)
{
	(void)to;
	cfiparser_run(HELPERPROCESS_FD);
}

/* A parser without an opener ends, as nothing else has the other end of its socket. */
static struct started start_both(int recorder, const char *proc)
{
	struct started s = { 0 };
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return s;
	s.parser = helperprocess_start_sibling(
		&(struct helperprocess){ "pjrecord-table", &pair[1], 1, URGENCY_USUAL, cfistarter_run_parser, NULL });
	if (s.parser)
		s.opener = helperprocess_start_sibling(
			&(struct helperprocess){ "pjrecord-open", (int[]){ recorder, pair[0] }, 2, URGENCY_SOON,
						 run_opener, (void *)(uintptr_t)proc });
	close(pair[0]);
	close(pair[1]);
	return s;
}

static void cfistarter_run_starter(void *to)
{
	const struct cfistarter *s = to;
	int recorder;
	char any;

	while (fdmessage_take(HELPERPROCESS_FD, &any, sizeof(any), &recorder) > 0) {
		struct started started = { 0 };

		if (recorder >= 0) {
			started = start_both(recorder, s->proc);
			close(recorder);
		}
		if (!fdmessage_put(HELPERPROCESS_FD, &started, sizeof(started), -1))
			break;
	}
}

/* ---- the recorder's end ---------------------------------------------------------------------------------------- */

static void fork_starter(struct cfistarter *s)
{
	static const struct timeval max = { .tv_usec = CFISTARTER_WAIT_MS * 1000 };
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return;
	setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &max, sizeof(max));
	s->pid = helperprocess_start(
		&(struct helperprocess){ "pjrecord-start", &pair[1], 1, URGENCY_SOON, cfistarter_run_starter, s });
	close(pair[1]);
	if (s->pid)
		s->socket = pair[0];
	else
		close(pair[0]);
}

void cfistarter_open(struct cfistarter *s, const char *proc)
{
	*s = (struct cfistarter){ .proc = proc, .socket = -1 };
	fork_starter(s);
}

void cfistarter_close(struct cfistarter *s)
{
	if (s->socket >= 0)
		close(s->socket);
	s->socket = -1;
	if (s->pid) { /* it waits for nothing but the recorder, so it ends at once */
		kill(s->pid, SIGKILL);
		waitpid(s->pid, NULL, 0);
	}
	s->pid = 0;
}

bool cfistarter_begin(struct cfistarter *s, int *socket, pid_t *opener, pid_t *parser)
{
	struct started started = { 0 };
	int pair[2], none;

	if (!s->pid)
		fork_starter(s);
	if (!s->pid || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return false;
	if (!fdmessage_send(s->socket, "", 1, pair[1]) ||
	    fdmessage_receive(s->socket, &started, sizeof(started), &none, 0) <= 0)
		cfistarter_close(s); /* it was killed, or gets no CPU: the next call forks another one */
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
