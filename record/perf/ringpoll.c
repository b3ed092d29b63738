/* SPDX-License-Identifier: Apache-2.0 */
#include "record/perf/ringpoll.h"

#include "common/arena.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

static void ringpoll_learn(struct ringpoll *ringpoll, const struct rings *rings)
{
	size_t n = rings_fds(rings, NULL, 0);
	int *fd = mem_alloc(sizeof(*fd), n);

	rings_fds(rings, fd, n);
	ringpoll->poll = mem_grow(ringpoll->poll, sizeof(*ringpoll->poll), n + 1);
	for (size_t i = 0; i < n; i++)
		ringpoll->poll[i] = (struct pollfd){ .fd = fd[i], .events = POLLIN };
	ringpoll->n = n;
	ringpoll->known = true;
	ringpoll->generation = rings_generation(rings);
	free(fd);
}

#define STORM 64u /* number of records skipped between two waits from which on a storm is assumed */
#define PAUSE_MIN_NS UINT64_C(250000)
#define PAUSE_MAX_NS UINT64_C(2000000)

/* Sets ringpoll->pause to the time in ns for which the rings do not wake the recorder. The time is 0 if there is no
 * storm, or if rings fill up before the shortest pause ends. */
static void set_pause(struct ringpoll *ringpoll, const struct rings *rings)
{
	uint64_t skipped = rings_skipped(rings), last = ringpoll->pause ? ringpoll->pause : PAUSE_MIN_NS;

	ringpoll->pause = rings_high(rings) > 500 ? last / 2 : rings_high(rings) < 250 ? 2 * last : last;
	if (skipped - ringpoll->skipped < STORM || ringpoll->pause < PAUSE_MIN_NS)
		ringpoll->pause = 0;
	if (ringpoll->pause > PAUSE_MAX_NS)
		ringpoll->pause = PAUSE_MAX_NS;
	ringpoll->skipped = skipped;
}

void ringpoll_for(struct ringpoll *ringpoll, const struct rings *rings, int fd, int wait_ms)
{
	struct timespec spec = { .tv_sec = wait_ms / 1000, .tv_nsec = wait_ms % 1000 * 1000000L };
	sigset_t mask;

	set_pause(ringpoll, rings);
	if (!ringpoll->known || rings_generation(rings) != ringpoll->generation)
		ringpoll_learn(ringpoll, rings);
	ringpoll->poll[ringpoll->n] = (struct pollfd){ .fd = fd, .events = POLLIN };
	sigprocmask(SIG_SETMASK, NULL, &mask);
	/* SIGCHLD interrupts the wait, so that the recorder notices the end of its command (command_fork) */
	sigdelset(&mask, SIGCHLD);
	if (ringpoll->pause && wait_ms > 0) {
		spec = (struct timespec){ .tv_nsec = (long)ringpoll->pause };
		ppoll(ringpoll->poll + ringpoll->n, 1, &spec, &mask);
		return;
	}
	if (ppoll(ringpoll->poll, ringpoll->n + 1, &spec, &mask) <= 0)
		return;
	for (size_t i = 0; i < ringpoll->n; i++)
		/* the target of this event has ended, and poll would report its descriptor as ready forever: ignores it
		 * from now on */
		if (ringpoll->poll[i].revents & (POLLHUP | POLLERR | POLLNVAL))
			ringpoll->poll[i].fd = -1;
}

void ringpoll_free(struct ringpoll *ringpoll)
{
	free(ringpoll->poll);
	*ringpoll = (struct ringpoll){ 0 };
}
