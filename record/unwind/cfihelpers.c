/* SPDX-License-Identifier: Apache-2.0 */
#include "record/unwind/cfihelpers.h"

#include "common/arena.h"
#include "common/clocks.h"
#include "common/process/fdmessage.h"
#include "common/process/urgency.h"
#include "record/symsaver/targetfiles.h"
#include "record/unwind/cfistarter.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* maximum number of pending requests of a pair; further ones are refused (CFIHELPERS_BUSY) */
#define QUEUE 32u
/* maximum number of pending requests of a pair for one fault domain; further ones are refused */
#define QUEUE_SHARE 16u
#define SOON_NS SECOND_NS /* ns without a reply after which samples no longer wait for a pair */
/* ns without a reply after which samples no longer wait for a tenant's pair that a file system blocks */
#define BLOCKED_NS (SECOND_NS / 10)
#define LOOK_NS (SECOND_NS / 50) /* minimum ns between two checks if a file system blocks a pair */
/* a pair counts as hung after this many times hang_ms without a reply, even if it uses CPU time */
#define HANG_TIMES 6
/* ns between an attempt to start the pair, or a crash within 0.5 s of its start, and the next start of the pair */
#define RESTART_NS (SECOND_NS / 5)
/* CPU time in ns for which a new parser has raised priority, because samples wait for its tables. At usual priority on
 * a busy machine, the first second of a JVM had no complete stacks. */
#define URGENT_NS (SECOND_NS * 3 / 10)
enum { END_TRIES = 25 };

/* The two helper processes of one tenant, an opener and a parser. */
struct pair {
	uint64_t key;         /* key of the pair (cfihelpers_owner.key); 0: free slot */
	pid_t opener, parser; /* pids of the two processes; 0: not running */
	int socket;
	/* ring of pending requests, the oldest at index `first`; replies arrive in the same order */
	struct cfihelpers_request request[QUEUE];
	uint32_t first, nrequests;
	/* time in ns of the last reply, or, if it is later, of the last request that was sent while none was pending */
	uint64_t progress;
	uint64_t running; /* time in ns at which one of the processes was last seen using CPU time */
	uint64_t polled;  /* time in ns of the last check if a file system blocks the pair */
	bool blocked;
	bool urgent; /* true: the parser has raised priority */
	/* CPU clock of the parser process; the kernel counts it, whereas a time that the parser reports could be
	 * false */
	clockid_t clock;
	uint64_t used;    /* time in ns of the last request */
	uint64_t restart; /* earliest time in ns of the next start */
};

struct cfihelpers {
	const char *proc;
	uint64_t hang_ns;
	struct cfihelpers_user user;
	struct cfistarter starter;
	struct backoff backoff;
	struct pair pair[CFIHELPERS_MAX];
	int epoll;
	bool off; /* true: the last start of a pair failed */
};

struct cfihelpers *cfihelpers_start(const char *proc, unsigned hang_ms, const struct cfihelpers_user *user)
{
	struct cfihelpers *helpers = mem_alloc(sizeof(*helpers), 1);

	helpers->proc = proc;
	helpers->hang_ns = hang_ms * (SECOND_NS / 1000);
	helpers->user = *user;
	helpers->backoff.lingering_max = BACKOFF_LINGERING_TENANTS;
	helpers->epoll = epoll_create1(EPOLL_CLOEXEC);
	cfistarter_open(&helpers->starter, proc);
	return helpers;
}

pid_t cfihelpers_start_interphelper(struct cfihelpers *helpers, int socket, int memory)
{
	return cfistarter_begin_interphelper(&helpers->starter, socket, memory);
}

/* ---- start and end of pairs ------------------------------------------------------------------------------------- */

static bool cfihelpers_runs(const struct pair *pair)
{
	return pair->opener != 0;
}

static void cfihelpers_start_pair(struct cfihelpers *helpers, struct pair *pair, uint64_t now)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = pair };

	helpers->off = true;
	pair->restart = now + RESTART_NS;
	if (!backoff_has_space(&helpers->backoff) ||
	    !cfistarter_begin(&helpers->starter, &pair->socket, &pair->opener, &pair->parser))
		return;
	helpers->off = false;
	pair->urgent = clock_getcpuclockid(pair->parser, &pair->clock) == 0;
	if (!pair->urgent)
		urgency_lower_child(pair->parser);
	epoll_ctl(helpers->epoll, EPOLL_CTL_ADD, pair->socket, &event);
	pair->progress = pair->running = now;
}

/* Closes the socket to a pair and forgets the pids of its processes. The caller must still reap the two processes. */
static void cfihelpers_let_go(struct cfihelpers *helpers, struct pair *pair)
{
	epoll_ctl(helpers->epoll, EPOLL_CTL_DEL, pair->socket, NULL);
	close(pair->socket);
	pair->opener = pair->parser = 0;
}

/* Kills processes and waits for them. The wait is at most `tries` times 0.2 ms for all processes together. Processes
 * that have not ended by then become lingering helpers (backoff.h). */
static void end_processes(struct cfihelpers *helpers, pid_t *pid, size_t n, unsigned tries)
{
	static const struct timespec moment = { .tv_nsec = 200000 };

	for (size_t i = 0; i < n; i++)
		if (pid[i])
			/* SIGKILL, as the helpers have no state to save */
			kill(pid[i], SIGKILL);
	for (size_t i = 0; i < n; i++) {
		pid_t ended = pid[i] ? waitpid(pid[i], NULL, WNOHANG) : 1;

		for (; !ended && tries; tries--) {
			nanosleep(&moment, NULL);
			ended = waitpid(pid[i], NULL, WNOHANG);
		}
		if (!ended)
			backoff_abandon(&helpers->backoff, pid[i], 0);
	}
}

/* Ends a pair that has no pending requests, and frees its slot. Waits for its processes for 5 ms at most. */
static void cfihelpers_end(struct cfihelpers *helpers, struct pair *pair)
{
	pid_t pid[2] = { pair->opener, pair->parser };

	if (cfihelpers_runs(pair)) {
		cfihelpers_let_go(helpers, pair);
		end_processes(helpers, pid, countof(pid), END_TRIES);
	}
	*pair = (struct pair){ 0 };
}

void cfihelpers_stop(struct cfihelpers *helpers)
{
	pid_t pid[2 * CFIHELPERS_MAX] = { 0 };

	if (!helpers)
		return;
	for (size_t i = 0; i < CFIHELPERS_MAX; i++) {
		struct pair *pair = &helpers->pair[i];

		pid[2 * i] = pair->opener;
		pid[2 * i + 1] = pair->parser;
		if (cfihelpers_runs(pair))
			cfihelpers_let_go(helpers, pair);
	}
	/* The wait is limited. Helpers that hang become children of init. */
	end_processes(helpers, pid, countof(pid), 100 * END_TRIES / 5);
	cfistarter_close(&helpers->starter);
	if (helpers->epoll >= 0)
		close(helpers->epoll);
	free(helpers);
}

static struct pair *pair_of(struct cfihelpers *helpers, uint64_t key)
{
	for (size_t i = 0; i < CFIHELPERS_MAX; i++)
		if (helpers->pair[i].key == key)
			return &helpers->pair[i];
	return NULL;
}

/* Returns a slot for a new pair with this key: a free one, otherwise that of the least recently used pair without
 * pending requests, after ending that pair. Returns NULL if all pairs have pending requests. Slot 0 is reserved for the
 * host's pair. */
static struct pair *slot_for(struct cfihelpers *helpers, uint64_t key)
{
	struct pair *oldest = NULL;

	if (key == CFIHELPERS_HOST)
		return &helpers->pair[0];
	for (size_t i = 1; i < CFIHELPERS_MAX; i++) {
		struct pair *pair = &helpers->pair[i];

		if (!pair->key)
			return pair;
		if (!pair->nrequests && (!oldest || pair->used < oldest->used))
			oldest = pair;
	}
	if (oldest)
		cfihelpers_end(helpers, oldest);
	return oldest;
}

/* ---- requests to pairs ------------------------------------------------------------------------------------------ */

static unsigned cfihelpers_requested(const struct pair *pair, uint64_t place)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < pair->nrequests; i++)
		n += pair->request[(pair->first + i) % QUEUE].owner.place == place;
	return n;
}

enum cfihelpers_pending cfihelpers_query(struct cfihelpers *helpers, const struct cfihelpers_owner *owner,
					 const struct cfimaker_request *request, size_t size, uint64_t now)
{
	struct pair *pair = pair_of(helpers, owner->key);

	if (!pair)
		pair = slot_for(helpers, owner->key);
	if (!pair)
		return CFIHELPERS_BUSY;
	if (!cfihelpers_runs(pair) && now >= pair->restart) {
		pair->key = owner->key;
		cfihelpers_start_pair(helpers, pair, now);
	}
	pair->used = now;
	if (!cfihelpers_runs(pair))
		return CFIHELPERS_OFF;
	if (pair->nrequests == QUEUE || cfihelpers_requested(pair, owner->place) == QUEUE_SHARE ||
	    send(pair->socket, request, size, MSG_DONTWAIT | MSG_NOSIGNAL) != (ssize_t)size)
		return CFIHELPERS_BUSY;
	if (pair->nrequests == 0)
		pair->progress = now;
	pair->request[(pair->first + pair->nrequests++) % QUEUE] =
		(struct cfihelpers_request){ request->number, *owner };
	return CFIHELPERS_PENDING;
}

bool cfihelpers_avoid(struct cfihelpers *helpers, uint64_t place, uint64_t now)
{
	return backoff_avoids(&helpers->backoff, place, now);
}

/* Returns true if no process of a pair runs or waits for a CPU: then a file system blocks the pair. Checks at most
 * every LOOK_NS, otherwise returns the last result. */
static bool cfihelpers_is_blocked(struct cfihelpers *helpers, struct pair *pair, uint64_t now)
{
	if (now >= pair->polled + LOOK_NS) {
		pair->polled = now;
		pair->blocked = !targetfiles_runs(helpers->proc, pair->opener) &&
				!targetfiles_runs(helpers->proc, pair->parser);
	}
	return pair->blocked;
}

bool cfihelpers_answer_soon(struct cfihelpers *helpers, uint64_t key, uint64_t now)
{
	struct pair *pair = pair_of(helpers, key);

	if (!pair || !cfihelpers_runs(pair))
		return false;
	if (!pair->nrequests || now < pair->progress + BLOCKED_NS)
		return true;
	return now < pair->progress + SOON_NS && (key == CFIHELPERS_HOST || !cfihelpers_is_blocked(helpers, pair, now));
}

/* ---- replies of pairs ------------------------------------------------------------------------------------------- */

static struct cfihelpers_request next_request(struct pair *pair)
{
	struct cfihelpers_request request = pair->request[pair->first];

	pair->first = (pair->first + 1) % QUEUE;
	pair->nrequests--;
	return request;
}

/* Receives all replies of a pair and calls the callback for each. Returns false if the pair has ended. */
static bool cfihelpers_receive(struct cfihelpers *helpers, struct pair *pair, uint64_t now)
{
	struct cfimaker_reply reply = { 0 };
	struct cfihelpers_request request;
	int image, got;

	while ((got = fdmessage_receive(pair->socket, &reply, sizeof(reply), &image, MSG_DONTWAIT)) > 0) {
		if (!pair->nrequests || pair->request[pair->first].number != reply.number) {
			/* Drops a reply that is not for the oldest pending request. */
			if (image >= 0)
				close(image);
			continue;
		}
		request = next_request(pair);
		pair->progress = now;
		helpers->user.answered(helpers->user.to, &request, &reply, image, now);
	}
	return got != 0;
}

static bool cfihelpers_hangs(const struct cfihelpers *helpers, struct pair *pair, uint64_t now)
{
	uint64_t since = pair->running > pair->progress ? pair->running : pair->progress;

	if (!pair->nrequests || now < since + helpers->hang_ns)
		return false;
	if (now < pair->progress + HANG_TIMES * helpers->hang_ns &&
	    (targetfiles_runs(helpers->proc, pair->opener) || targetfiles_runs(helpers->proc, pair->parser))) {
		/* A process of the pair uses CPU time: postpones the next check by half of hang_ns. */
		pair->running = now - helpers->hang_ns / 2;
		return false;
	}
	return true;
}

static void cfihelpers_fail(struct cfihelpers *helpers, struct pair *pair, bool hung, uint64_t now)
{
	uint64_t place = pair->nrequests ? pair->request[pair->first].owner.place : 0;
	pid_t opener = pair->opener, parser = pair->parser;
	bool first = true;

	cfihelpers_let_go(helpers, pair);
	/* The pause is for pairs that crash soon after each start. A pair that has run for half a second is replaced
	 * at once: samples do not wait during the pause, so their stacks would be broken. */
	pair->restart = hung || now >= pair->restart - RESTART_NS + SECOND_NS / 2 ? now : now + RESTART_NS;
	for (; pair->nrequests; first = false) {
		struct cfihelpers_request request = next_request(pair);

		helpers->user.failed(helpers->user.to, &request, first, hung, now);
	}
	backoff_failed(&helpers->backoff, opener, place, hung, now);
	backoff_abandon(&helpers->backoff, parser, place);
}

/* Lowers the priority of a parser that has used URGENT_NS of CPU time. Tenants choose the files, so they could keep the
 * parser busy. */
static void cfihelpers_lower(struct pair *pair)
{
	struct timespec spec;

	if (!pair->urgent ||
	    (clock_gettime(pair->clock, &spec) == 0 && spec.tv_sec == 0 && spec.tv_nsec < (long)URGENT_NS))
		return;
	urgency_lower_child(pair->parser);
	pair->urgent = false;
}

static void look_after(struct cfihelpers *helpers, uint64_t now)
{
	for (size_t i = 0; i < CFIHELPERS_MAX; i++) {
		struct pair *pair = &helpers->pair[i];
		bool ended = cfihelpers_runs(pair) && !cfihelpers_receive(helpers, pair, now);

		if (ended || (cfihelpers_runs(pair) && cfihelpers_hangs(helpers, pair, now)))
			cfihelpers_fail(helpers, pair, !ended, now);
		if (cfihelpers_runs(pair))
			cfihelpers_lower(pair);
	}
}

void cfihelpers_take(struct cfihelpers *helpers, uint64_t now)
{
	struct epoll_event event;
	uint32_t pending = 0;

	for (size_t i = 0; i < CFIHELPERS_MAX; i++)
		pending += helpers->pair[i].nrequests;
	/* Without pending requests, one epoll_wait replaces the checks of all pairs. In a storm of mapping records this
	 * function is called 400 times a second. */
	if (pending || epoll_wait(helpers->epoll, &event, 1, 0) > 0)
		look_after(helpers, now);
}

int cfihelpers_fd(const struct cfihelpers *helpers)
{
	return helpers->epoll;
}

void cfihelpers_tick(struct cfihelpers *helpers, uint64_t now)
{
	look_after(helpers, now);
	for (size_t i = 0; i < CFIHELPERS_MAX; i++)
		if (helpers->pair[i].key && !helpers->pair[i].nrequests &&
		    helpers->pair[i].used + CFIHELPERS_IDLE_NS < now)
			cfihelpers_end(helpers, &helpers->pair[i]);
	backoff_has_space(&helpers->backoff);
}

unsigned cfihelpers_running(const struct cfihelpers *helpers)
{
	unsigned n = 0;

	for (size_t i = 0; i < CFIHELPERS_MAX; i++)
		n += cfihelpers_runs(&helpers->pair[i]);
	return n;
}

struct helper_counts cfihelpers_count(const struct cfihelpers *helpers)
{
	return backoff_counts(&helpers->backoff, helpers->off && !cfihelpers_running(helpers));
}
