/* SPDX-License-Identifier: Apache-2.0 */
#include "record/unwind/cfihelpers.h"

#include "common/arena.h"
#include "common/clocks.h"
#include "common/process/fdmessage.h"
#include "record/symsaver/targetfiles.h"
#include "record/unwind/cfistarter.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define QUEUE 32u                   /* requests of a pair at a time */
#define QUEUE_SHARE 16u             /* of these, for one place */
#define SOON_NS SECOND_NS           /* without a sign of life a pair is not waited for, */
#define BLOCKED_NS (SECOND_NS / 10) /* nor after this if it is blocked, unless it is the host's */
#define LOOK_NS (SECOND_NS / 50)    /* between looks at that */
#define HANG_TIMES 6                /* so many times as long, whatever they do */
#define RESTART_NS (SECOND_NS / 5)  /* between a crash and the next start */
enum { END_TRIES = 25 };

struct pair {
	uint64_t key;         /* 0: free */
	pid_t opener, parser; /* 0: none */
	int socket;
	struct cfihelpers_request is_requested[QUEUE]; /* answers come in the order of requests */
	uint32_t first, nasked;
	uint64_t progress; /* ns of the last answer, or of the request before which there was none */
	uint64_t running;  /* ns of the last time that a helper was seen running */
	uint64_t polled;   /* ns of the last look whether it is blocked */
	bool blocked;
	uint64_t used;    /* ns of the last request */
	uint64_t restart; /* ns: not started before */
};

struct cfihelpers {
	const char *proc;
	uint64_t hang_ns;
	struct cfihelpers_user user;
	struct cfistarter starter;
	struct backoff backoff;
	struct pair pair[CFIHELPERS_MAX];
	int epoll;
	bool off; /* the last start failed */
};

struct cfihelpers *cfihelpers_start(const char *proc, unsigned hang_ms, const struct cfihelpers_user *user)
{
	struct cfihelpers *h = mem_alloc(sizeof(*h), 1);

	h->proc = proc;
	h->hang_ns = hang_ms * (SECOND_NS / 1000);
	h->user = *user;
	h->backoff.lingering_max = BACKOFF_LINGERING_TENANTS;
	h->epoll = epoll_create1(EPOLL_CLOEXEC);
	cfistarter_open(&h->starter, proc);
	return h;
}

/* ---- pairs ----------------------------------------------------------------------------------------------------- */

static bool cfihelpers_runs(const struct pair *p)
{
	return p->opener != 0;
}

static void cfihelpers_start_pair(struct cfihelpers *h, struct pair *p, uint64_t now)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = p };

	h->off = true;
	p->restart = now + RESTART_NS;
	if (!backoff_has_space(&h->backoff) || !cfistarter_begin(&h->starter, &p->socket, &p->opener, &p->parser))
		return;
	h->off = false;
	epoll_ctl(h->epoll, EPOLL_CTL_ADD, p->socket, &event);
	p->progress = p->running = now;
}

/* Closes what leads to a pair, which is still to be reaped. */
static void cfihelpers_let_go(struct cfihelpers *h, struct pair *p)
{
	epoll_ctl(h->epoll, EPOLL_CTL_DEL, p->socket, NULL);
	close(p->socket);
	p->opener = p->parser = 0;
}

/* Waits for processes that were killed; those that do not end in `tries` are handed to the backoff. */
static void end_processes(struct cfihelpers *h, pid_t *pid, size_t n, unsigned tries)
{
	static const struct timespec moment = { .tv_nsec = 200000 };

	for (size_t i = 0; i < n; i++)
		if (pid[i])
			kill(pid[i], SIGKILL); /* it holds nothing that matters */
	for (size_t i = 0; i < n; i++) {
		pid_t ended = pid[i] ? waitpid(pid[i], NULL, WNOHANG) : 1;

		for (; !ended && tries; tries--) {
			nanosleep(&moment, NULL);
			ended = waitpid(pid[i], NULL, WNOHANG);
		}
		if (!ended)
			backoff_abandon(&h->backoff, pid[i], 0);
	}
}

/* Of a pair without requests. */
static void cfihelpers_end(struct cfihelpers *h, struct pair *p)
{
	pid_t pid[2] = { p->opener, p->parser };

	if (cfihelpers_runs(p)) {
		cfihelpers_let_go(h, p);
		end_processes(h, pid, countof(pid), END_TRIES);
	}
	*p = (struct pair){ 0 };
}

void cfihelpers_stop(struct cfihelpers *h)
{
	pid_t pid[2 * CFIHELPERS_MAX] = { 0 };

	if (!h)
		return;
	for (size_t i = 0; i < CFIHELPERS_MAX; i++) {
		struct pair *p = &h->pair[i];

		pid[2 * i] = p->opener;
		pid[2 * i + 1] = p->parser;
		if (cfihelpers_runs(p))
			cfihelpers_let_go(h, p);
	}
	end_processes(h, pid, countof(pid), 100 * END_TRIES / 5); /* where they hang, they are left to init */
	cfistarter_close(&h->starter);
	if (h->epoll >= 0)
		close(h->epoll);
	free(h);
}

static struct pair *pair_of(struct cfihelpers *h, uint64_t key)
{
	for (size_t i = 0; i < CFIHELPERS_MAX; i++)
		if (h->pair[i].key == key)
			return &h->pair[i];
	return NULL;
}

/* A free slot, else that of the tenant that was not served for longest; NULL: all have requests. One is the host's. */
static struct pair *slot_for(struct cfihelpers *h, uint64_t key)
{
	struct pair *oldest = NULL;

	if (key == CFIHELPERS_HOST)
		return &h->pair[0];
	for (size_t i = 1; i < CFIHELPERS_MAX; i++) {
		struct pair *p = &h->pair[i];

		if (!p->key)
			return p;
		if (!p->nasked && (!oldest || p->used < oldest->used))
			oldest = p;
	}
	if (oldest)
		cfihelpers_end(h, oldest);
	return oldest;
}

/* ---- requests -------------------------------------------------------------------------------------------------- */

static unsigned cfihelpers_requested(const struct pair *p, uint64_t place)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < p->nasked; i++)
		n += p->is_requested[(p->first + i) % QUEUE].owner.place == place;
	return n;
}

enum cfihelpers_pending cfihelpers_query(struct cfihelpers *h, const struct cfihelpers_owner *owner,
					 const struct cfimaker_request *r, size_t size, uint64_t now)
{
	struct pair *p = pair_of(h, owner->key);

	if (!p)
		p = slot_for(h, owner->key);
	if (!p)
		return CFIHELPERS_BUSY;
	if (!cfihelpers_runs(p) && now >= p->restart) {
		p->key = owner->key;
		cfihelpers_start_pair(h, p, now);
	}
	p->used = now;
	if (!cfihelpers_runs(p))
		return CFIHELPERS_OFF;
	if (p->nasked == QUEUE || cfihelpers_requested(p, owner->place) == QUEUE_SHARE ||
	    send(p->socket, r, size, MSG_DONTWAIT | MSG_NOSIGNAL) != (ssize_t)size)
		return CFIHELPERS_BUSY;
	if (p->nasked == 0)
		p->progress = now;
	p->is_requested[(p->first + p->nasked++) % QUEUE] = (struct cfihelpers_request){ r->number, *owner };
	return CFIHELPERS_PENDING;
}

bool cfihelpers_avoid(struct cfihelpers *h, uint64_t place, uint64_t now)
{
	return backoff_avoids(&h->backoff, place, now);
}

/* True if a pair waits for a file system, not for a CPU. */
static bool cfihelpers_is_blocked(struct cfihelpers *h, struct pair *p, uint64_t now)
{
	if (now >= p->polled + LOOK_NS) {
		p->polled = now;
		p->blocked = !targetfiles_runs(h->proc, p->opener) && !targetfiles_runs(h->proc, p->parser);
	}
	return p->blocked;
}

bool cfihelpers_answer_soon(struct cfihelpers *h, uint64_t key, uint64_t now)
{
	struct pair *p = pair_of(h, key);

	if (!p || !cfihelpers_runs(p))
		return false;
	if (!p->nasked || now < p->progress + BLOCKED_NS)
		return true;
	return now < p->progress + SOON_NS && (key == CFIHELPERS_HOST || !cfihelpers_is_blocked(h, p, now));
}

/* ---- answers --------------------------------------------------------------------------------------------------- */

static struct cfihelpers_request next_request(struct pair *p)
{
	struct cfihelpers_request q = p->is_requested[p->first];

	p->first = (p->first + 1) % QUEUE;
	p->nasked--;
	return q;
}

/* Returns false if the pair ended. */
static bool cfihelpers_receive(struct cfihelpers *h, struct pair *p, uint64_t now)
{
	struct cfimaker_reply r = { 0 };
	struct cfihelpers_request q;
	int image, got;

	while ((got = fdmessage_receive(p->socket, &r, sizeof(r), &image, MSG_DONTWAIT)) > 0) {
		if (!p->nasked || p->is_requested[p->first].number != r.number) { /* nobody requested that */
			if (image >= 0)
				close(image);
			continue;
		}
		q = next_request(p);
		p->progress = now;
		h->user.answered(h->user.to, &q, &r, image, now);
	}
	return got != 0;
}

static bool cfihelpers_hangs(const struct cfihelpers *h, struct pair *p, uint64_t now)
{
	uint64_t since = p->running > p->progress ? p->running : p->progress;

	if (!p->nasked || now < since + h->hang_ns)
		return false;
	if (now < p->progress + HANG_TIMES * h->hang_ns &&
	    (targetfiles_runs(h->proc, p->opener) || targetfiles_runs(h->proc, p->parser))) {
		p->running = now - h->hang_ns / 2; /* looked at again soon */
		return false;
	}
	return true;
}

static void cfihelpers_fail(struct cfihelpers *h, struct pair *p, bool hung, uint64_t now)
{
	uint64_t place = p->nasked ? p->is_requested[p->first].owner.place : 0;
	pid_t opener = p->opener, parser = p->parser;
	bool first = true;

	cfihelpers_let_go(h, p);
	p->restart = hung ? now : now + RESTART_NS;
	for (; p->nasked; first = false) {
		struct cfihelpers_request q = next_request(p);

		h->user.failed(h->user.to, &q, first, hung, now);
	}
	backoff_failed(&h->backoff, opener, place, hung, now);
	backoff_abandon(&h->backoff, parser, place);
}

static void look_after(struct cfihelpers *h, uint64_t now)
{
	for (size_t i = 0; i < CFIHELPERS_MAX; i++) {
		struct pair *p = &h->pair[i];
		bool ended = cfihelpers_runs(p) && !cfihelpers_receive(h, p, now);

		if (ended || (cfihelpers_runs(p) && cfihelpers_hangs(h, p, now)))
			cfihelpers_fail(h, p, !ended, now);
	}
}

void cfihelpers_take(struct cfihelpers *h, uint64_t now)
{
	look_after(h, now);
}

int cfihelpers_fd(const struct cfihelpers *h)
{
	return h->epoll;
}

void cfihelpers_tick(struct cfihelpers *h, uint64_t now)
{
	look_after(h, now);
	for (size_t i = 0; i < CFIHELPERS_MAX; i++)
		if (h->pair[i].key && !h->pair[i].nasked && h->pair[i].used + CFIHELPERS_IDLE_NS < now)
			cfihelpers_end(h, &h->pair[i]);
	backoff_has_space(&h->backoff);
}

unsigned cfihelpers_running(const struct cfihelpers *h)
{
	unsigned n = 0;

	for (size_t i = 0; i < CFIHELPERS_MAX; i++)
		n += cfihelpers_runs(&h->pair[i]);
	return n;
}

struct helper_counts cfihelpers_count(const struct cfihelpers *h)
{
	return backoff_counts(&h->backoff, h->off && !cfihelpers_running(h));
}
