/* SPDX-License-Identifier: Apache-2.0 */
#include "record/symsaver/symhelper.h"

#include "common/process/helperprocess.h"
#include "common/clocks.h"
#include "common/process/fdmessage.h"
#include "record/symsaver/targetfiles.h"
#include "common/process/urgency.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LOOK_US 100000 /* between looks at a parser that has not answered */
enum { END_TRIES = 25 };

void symhelper_init(struct symhelper *h, const char *proc, void (*run)(int socket), uint64_t limit_ns)
{
	*h = (struct symhelper){ .proc = proc, .run = run, .limit_ns = limit_ns, .socket = -1, .schedstat = -1 };
}

/* ---- the process --------------------------------------------------------------------------------------------- */

static void symhelper_run_parser(void *to)
{
	const struct symhelper *h = to;

	prctl(PR_SET_PDEATHSIG, SIGKILL); /* it may be blocked when the keeper is killed */
	h->run(HELPERPROCESS_FD);
}

static void symhelper_start(struct symhelper *h)
{
	struct timeval look = { .tv_usec = LOOK_US };
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return;
	h->pid = helperprocess_start(
		&(struct helperprocess){ "pjrecord-symbol", &pair[1], 1, URGENCY_USUAL, symhelper_run_parser, h });
	close(pair[1]);
	if (!h->pid || setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &look, sizeof(look)) < 0) {
		close(pair[0]);
		return;
	}
	h->socket = pair[0];
	h->schedstat = schedstat_open(h->pid);
	h->seen = (struct schedstat){ 0 };
	h->of = h->tenant;
	h->started++;
}

/* Closes what leads to the parser. Returns its PID, still to be reaped. */
static pid_t symhelper_let_go(struct symhelper *h)
{
	pid_t pid = h->pid;

	if (h->socket >= 0)
		close(h->socket);
	if (h->schedstat >= 0)
		close(h->schedstat);
	h->socket = h->schedstat = -1;
	h->pid = 0;
	return pid;
}

/* It ends as its socket is closed: it waits for a question. */
static void symhelper_end(struct symhelper *h)
{
	static const struct timespec moment = { .tv_nsec = 200000 };
	pid_t pid = symhelper_let_go(h), ended = 0;

	for (unsigned tries = 0; pid && tries < END_TRIES && (ended = waitpid(pid, NULL, WNOHANG)) == 0; tries++)
		nanosleep(&moment, NULL);
	if (pid && !ended)
		backoff_abandon(&h->backoff, pid, 0);
}

void symhelper_free(struct symhelper *h)
{
	symhelper_end(h);
}

static enum symparser_answer symhelper_fail(struct symhelper *h, bool hung)
{
	backoff_failed(&h->backoff, symhelper_let_go(h), h->place, hung, clock_now());
	h->failed = hung ? SYMPARSER_HUNG : SYMPARSER_CRASHED;
	return h->failed;
}

/* A parser that has seen files of no other tenant. */
static enum symparser_answer make_ready(struct symhelper *h)
{
	uint64_t now = clock_now();

	if (h->place && backoff_avoids(&h->backoff, h->place, now))
		return SYMPARSER_HUNG;
	if (h->pid && h->of != h->tenant)
		symhelper_end(h);
	if (!h->pid && backoff_may_start(&h->backoff, now))
		symhelper_start(h);
	return h->pid ? SYMPARSER_DONE : SYMPARSER_OFF;
}

/* ---- asking -------------------------------------------------------------------------------------------------- */

/* Adds the time that the parser used since the last look. True if there was any, or it is on a CPU. */
static bool makes_progress(struct symhelper *h)
{
	struct schedstat s = h->seen;
	bool moved;

	if (!schedstat_read(h->schedstat, &s))
		return true;
	moved = s.ran != h->seen.ran || s.waited != h->seen.waited;
	h->cpu_ns += s.ran - h->seen.ran + s.waited - h->seen.waited;
	h->seen = s;
	return moved || targetfiles_runs(h->proc, h->pid);
}

static enum symparser_answer symhelper_await(struct symhelper *h, struct symparser_reply *reply)
{
	uint64_t since = clock_now(), moved = since;

	for (;;) {
		ssize_t n = recv(h->socket, reply, sizeof(*reply), MSG_TRUNC);
		uint64_t now;

		if (n == (ssize_t)sizeof(*reply) && reply->serial == h->serial) {
			makes_progress(h);
			return SYMPARSER_DONE;
		}
		if (n >= 0 || (errno != EAGAIN && errno != EINTR)) /* it ended, or sends what was not asked for */
			return symhelper_fail(h, false);
		now = clock_now();
		if (makes_progress(h))
			moved = now;
		if (now - moved > SYMHELPER_BLOCKED_NS || now - since > h->limit_ns)
			return symhelper_fail(h, true);
	}
}

static enum symparser_answer symhelper_query(struct symhelper *h, struct symparser_request *q, const int *fd,
					     size_t fds, struct symparser_reply *reply)
{
	enum symparser_answer answer = make_ready(h);

	*reply = (struct symparser_reply){ 0 };
	if (answer != SYMPARSER_DONE) {
		h->failed = answer;
		return answer;
	}
	q->serial = ++h->serial;
	answer = fdmessage_send_all(h->socket, q, sizeof(*q), fd, fds) ? symhelper_await(h, reply) :
									 symhelper_fail(h, false);
	if (answer != SYMPARSER_DONE) {
		*reply = (struct symparser_reply){ 0 };
		return answer;
	}
	if (reply->build_id_n > sizeof(reply->build_id))
		reply->build_id_n = 0;
	return reply->answer <= SYMPARSER_CANNOT_WRITE ? (enum symparser_answer)reply->answer : SYMPARSER_NOT_ELF;
}

void symhelper_for(struct symhelper *h, const struct tenant *of)
{
	h->tenant = backoff_place(of, 0, 0);
}

void symhelper_enter(struct symhelper *h, const struct tenant *of, uint64_t place)
{
	symhelper_for(h, of);
	h->place = place;
	h->failed = SYMPARSER_DONE;
}

unsigned symhelper_build_id(struct symhelper *h, int fd, uint8_t id[20])
{
	struct symparser_request q = { .question = SYMPARSER_ID };
	struct symparser_reply reply;

	symhelper_query(h, &q, &fd, 1, &reply);
	memcpy(id, reply.build_id, sizeof(reply.build_id));
	return reply.build_id_n;
}

enum symparser_answer symhelper_reduce(struct symhelper *h, int fd, int out, uint64_t max,
				       struct symparser_reply *reply)
{
	struct symparser_request q = { .question = SYMPARSER_REDUCE, .max = max };

	return symhelper_query(h, &q, (int[]){ [SYMPARSER_IN] = fd, [SYMPARSER_OUT] = out }, 2, reply);
}

enum symparser_answer symhelper_reduce_memory(struct symhelper *h, int mem, uint64_t base, int out, uint64_t max,
					      struct symparser_reply *reply)
{
	struct symparser_request q = { .question = SYMPARSER_MEMORY_IMAGE, .base = base, .max = max };

	return symhelper_query(h, &q, (int[]){ [SYMPARSER_IN] = mem, [SYMPARSER_OUT] = out }, 2, reply);
}

enum jitcopy_records symhelper_records(struct symhelper *h, int fd, const struct jitcopy_span *span, uint64_t *end)
{
	struct symparser_request q = { .question = SYMPARSER_RECORDS, .span = *span };
	struct symparser_reply reply;

	if (symhelper_query(h, &q, &fd, 1, &reply) != SYMPARSER_DONE || reply.records > RECORDS_LARGE)
		return RECORDS_LATER;
	*end = reply.end;
	return (enum jitcopy_records)reply.records;
}
