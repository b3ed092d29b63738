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

#define LOOK_US 100000 /* interval in us between two checks if a parser without reply makes progress */
enum { END_TRIES = 25 };

void symhelper_init(struct symhelper *symhelper, const char *proc, void (*run)(int socket), uint64_t limit_ns)
{
	*symhelper =
		(struct symhelper){ .proc = proc, .run = run, .limit_ns = limit_ns, .socket = -1, .schedstat = -1 };
}

/* ---- start and end of the parser process ------------------------------------------------------------------------ */

static void symhelper_run_parser(void *to)
{
	const struct symhelper *symhelper = to;

	/* the kernel kills the parser when the symbol saver is killed, even if the parser is blocked */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	symhelper->run(HELPERPROCESS_FD);
}

static void symhelper_start(struct symhelper *symhelper)
{
	struct timeval look = { .tv_usec = LOOK_US };
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return;
	symhelper->pid = helperprocess_start(&(struct helperprocess){ "pjrecord-symbol", &pair[1], 1, URGENCY_USUAL,
								      symhelper_run_parser, symhelper });
	close(pair[1]);
	if (!symhelper->pid || setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &look, sizeof(look)) < 0) {
		close(pair[0]);
		return;
	}
	symhelper->socket = pair[0];
	symhelper->schedstat = schedstat_open(symhelper->pid);
	symhelper->seen = (struct schedstat){ 0 };
	symhelper->of = symhelper->tenant;
	symhelper->started++;
}

/* Closes the descriptors of the parser and sets its pid to 0. Returns the earlier pid; the caller must reap the
 * process. */
static pid_t symhelper_let_go(struct symhelper *symhelper)
{
	pid_t pid = symhelper->pid;

	if (symhelper->socket >= 0)
		close(symhelper->socket);
	if (symhelper->schedstat >= 0)
		close(symhelper->schedstat);
	symhelper->socket = symhelper->schedstat = -1;
	symhelper->pid = 0;
	return pid;
}

/* Ends an idle parser by closing its socket, and waits at most 5 ms for its end. A parser that has not ended then is
 * abandoned (backoff.h). */
static void symhelper_end(struct symhelper *symhelper)
{
	static const struct timespec moment = { .tv_nsec = 200000 };
	pid_t pid = symhelper_let_go(symhelper), ended = 0;

	for (unsigned tries = 0; pid && tries < END_TRIES && (ended = waitpid(pid, NULL, WNOHANG)) == 0; tries++)
		nanosleep(&moment, NULL);
	if (pid && !ended)
		backoff_abandon(&symhelper->backoff, pid, 0);
}

void symhelper_free(struct symhelper *symhelper)
{
	symhelper_end(symhelper);
}

static enum symparser_answer symhelper_fail(struct symhelper *symhelper, bool hung)
{
	backoff_failed(&symhelper->backoff, symhelper_let_go(symhelper), symhelper->place, hung, clock_now());
	symhelper->failed = hung ? SYMPARSER_HUNG : SYMPARSER_CRASHED;
	return symhelper->failed;
}

/* Makes sure that a parser runs that has read no files of tenants other than the one of the next request. Returns
 * SYMPARSER_DONE on success, SYMPARSER_HUNG if the fault domain is avoided, SYMPARSER_OFF if no parser can be started
 * now. */
static enum symparser_answer make_ready(struct symhelper *symhelper)
{
	uint64_t now = clock_now();

	if (symhelper->place && backoff_avoids(&symhelper->backoff, symhelper->place, now))
		return SYMPARSER_HUNG;
	if (symhelper->pid && symhelper->of != symhelper->tenant)
		symhelper_end(symhelper);
	if (!symhelper->pid && backoff_may_start(&symhelper->backoff, now))
		symhelper_start(symhelper);
	return symhelper->pid ? SYMPARSER_DONE : SYMPARSER_OFF;
}

/* ---- requests to the parser ------------------------------------------------------------------------------------- */

/* Returns true if the parser has run or waited for a CPU since the last check, if it is runnable now, or if its CPU
 * time cannot be read. Adds the time for which it ran or waited to cpu_ns. */
static bool makes_progress(struct symhelper *symhelper)
{
	struct schedstat schedstat = symhelper->seen;
	bool moved;

	if (!schedstat_read(symhelper->schedstat, &schedstat))
		return true;
	moved = schedstat.ran != symhelper->seen.ran || schedstat.waited != symhelper->seen.waited;
	symhelper->cpu_ns += schedstat.ran - symhelper->seen.ran + schedstat.waited - symhelper->seen.waited;
	symhelper->seen = schedstat;
	return moved || targetfiles_runs(symhelper->proc, symhelper->pid);
}

static enum symparser_answer symhelper_await(struct symhelper *symhelper, struct symparser_reply *reply)
{
	uint64_t since = clock_now(), moved = since;

	for (;;) {
		ssize_t got = recv(symhelper->socket, reply, sizeof(*reply), MSG_TRUNC);
		uint64_t now;

		if (got == (ssize_t)sizeof(*reply) && reply->serial == symhelper->serial) {
			makes_progress(symhelper);
			return SYMPARSER_DONE;
		}
		/* the parser has ended, or has sent an invalid reply */
		if (got >= 0 || (errno != EAGAIN && errno != EINTR))
			return symhelper_fail(symhelper, false);
		now = clock_now();
		if (makes_progress(symhelper))
			moved = now;
		if (now - moved > SYMHELPER_BLOCKED_NS || now - since > symhelper->limit_ns)
			return symhelper_fail(symhelper, true);
	}
}

static enum symparser_answer symhelper_query(struct symhelper *symhelper, struct symparser_request *request,
					     const int *fd, size_t fds, struct symparser_reply *reply)
{
	enum symparser_answer answer = make_ready(symhelper);

	*reply = (struct symparser_reply){ 0 };
	if (answer != SYMPARSER_DONE) {
		symhelper->failed = answer;
		return answer;
	}
	request->serial = ++symhelper->serial;
	answer = fdmessage_send_all(symhelper->socket, request, sizeof(*request), fd, fds) ?
			 symhelper_await(symhelper, reply) :
			 symhelper_fail(symhelper, false);
	if (answer != SYMPARSER_DONE) {
		*reply = (struct symparser_reply){ 0 };
		return answer;
	}
	if (reply->build_id.n > sizeof(reply->build_id.byte))
		reply->build_id.n = 0;
	return reply->answer <= SYMPARSER_CANNOT_WRITE ? (enum symparser_answer)reply->answer : SYMPARSER_NOT_ELF;
}

void symhelper_for(struct symhelper *symhelper, const struct tenant *tenant)
{
	symhelper->tenant = backoff_place(tenant, 0, 0);
}

void symhelper_enter(struct symhelper *symhelper, const struct tenant *tenant, uint64_t place)
{
	symhelper_for(symhelper, tenant);
	symhelper->place = place;
	symhelper->failed = SYMPARSER_DONE;
}

struct build_id symhelper_build_id(struct symhelper *symhelper, int fd)
{
	struct symparser_request request = { .question = SYMPARSER_ID };
	struct symparser_reply reply;

	symhelper_query(symhelper, &request, &fd, 1, &reply);
	return reply.build_id;
}

enum symparser_answer symhelper_reduce(struct symhelper *symhelper, int fd, int out, uint64_t max,
				       struct symparser_reply *reply)
{
	struct symparser_request request = { .question = SYMPARSER_REDUCE, .max = max };

	return symhelper_query(symhelper, &request, (int[]){ [SYMPARSER_IN] = fd, [SYMPARSER_OUT] = out }, 2, reply);
}

enum symparser_answer symhelper_reduce_memory(struct symhelper *symhelper, int mem, uint64_t base, int out,
					      uint64_t max, struct symparser_reply *reply)
{
	struct symparser_request request = { .question = SYMPARSER_MEMORY_IMAGE, .base = base, .max = max };

	return symhelper_query(symhelper, &request, (int[]){ [SYMPARSER_IN] = mem, [SYMPARSER_OUT] = out }, 2, reply);
}

enum jitcopy_records symhelper_records(struct symhelper *symhelper, int fd, const struct jitcopy_span *span,
				       uint64_t *end)
{
	struct symparser_request request = { .question = SYMPARSER_RECORDS, .span = *span };
	struct symparser_reply reply;

	if (symhelper_query(symhelper, &request, &fd, 1, &reply) != SYMPARSER_DONE || reply.records > RECORDS_LARGE)
		return RECORDS_LATER;
	*end = reply.end;
	return (enum jitcopy_records)reply.records;
}
