/* SPDX-License-Identifier: Apache-2.0 */
#include "record/perf/ringpoll.h"

#include "common/arena.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

static void ringpoll_learn(struct ringpoll *w, const struct rings *rings)
{
	size_t n = rings_fds(rings, NULL, 0);
	int *fd = mem_alloc(sizeof(*fd), n);

	rings_fds(rings, fd, n);
	w->poll = mem_grow(w->poll, sizeof(*w->poll), n + 1);
	for (size_t i = 0; i < n; i++)
		w->poll[i] = (struct pollfd){ .fd = fd[i], .events = POLLIN };
	w->n = n;
	w->known = true;
	free(fd);
}

#define STORM 64u /* records that were skipped since the last call */
#define PAUSE_MIN_NS UINT64_C(250000)
#define PAUSE_MAX_NS UINT64_C(2000000)

/* Sets w->pause: 0 if there is no storm, or if rings fill faster than a pause ends. */
static void set_pause(struct ringpoll *w, const struct rings *rings)
{
	uint64_t skipped = rings_skipped(rings), last = w->pause ? w->pause : PAUSE_MIN_NS;

	w->pause = rings_high(rings) > 500 ? last / 2 : rings_high(rings) < 250 ? 2 * last : last;
	if (skipped - w->skipped < STORM || w->pause < PAUSE_MIN_NS)
		w->pause = 0;
	if (w->pause > PAUSE_MAX_NS)
		w->pause = PAUSE_MAX_NS;
	w->skipped = skipped;
}

void ringpoll_for(struct ringpoll *w, const struct rings *rings, int fd, int ms)
{
	struct timespec spec = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L };
	sigset_t mask;

	set_pause(w, rings);
	if (!w->known || rings_fds(rings, NULL, 0) != w->n)
		ringpoll_learn(w, rings);
	w->poll[w->n] = (struct pollfd){ .fd = fd, .events = POLLIN };
	sigprocmask(SIG_SETMASK, NULL, &mask);
	sigdelset(&mask, SIGCHLD); /* the command's end, see command_fork */
	if (w->pause && ms > 0) {
		spec = (struct timespec){ .tv_nsec = (long)w->pause };
		ppoll(w->poll + w->n, 1, &spec, &mask);
		return;
	}
	if (ppoll(w->poll, w->n + 1, &spec, &mask) <= 0)
		return;
	for (size_t i = 0; i < w->n; i++)
		if (w->poll[i].revents &
		    (POLLHUP | POLLERR | POLLNVAL)) /* its process ended: it would be ready for ever */
			w->poll[i].fd = -1;
}

void ringpoll_free(struct ringpoll *w)
{
	free(w->poll);
	*w = (struct ringpoll){ 0 };
}
