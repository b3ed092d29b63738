/* SPDX-License-Identifier: Apache-2.0 */
#include "waiting.h"

#include "arena.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

static void learn(struct waiting *w, const struct rings *r)
{
	size_t n = rings_fds(r, NULL, 0);
	int *fd = mem_alloc(sizeof(*fd), n);

	rings_fds(r, fd, n);
	w->poll = mem_grow(w->poll, sizeof(*w->poll), n + 1);
	for (size_t i = 0; i < n; i++)
		w->poll[i] = (struct pollfd){ .fd = fd[i], .events = POLLIN };
	w->n = n;
	w->known = true;
	free(fd);
}

void waiting_for(struct waiting *w, const struct rings *r, int fd, int ms)
{
	struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L };
	sigset_t mask;

	if (!w->known || rings_fds(r, NULL, 0) != w->n)
		learn(w, r);
	w->poll[w->n] = (struct pollfd){ .fd = fd, .events = POLLIN };
	sigprocmask(SIG_SETMASK, NULL, &mask);
	sigdelset(&mask, SIGCHLD); /* the command's end, see command_fork */
	if (ppoll(w->poll, w->n + 1, &t, &mask) <= 0)
		return;
	for (size_t i = 0; i < w->n; i++)
		if (w->poll[i].revents & (POLLHUP | POLLERR | POLLNVAL)) /* its process ended: it would be ready for ever */
			w->poll[i].fd = -1;
}

void waiting_free(struct waiting *w)
{
	free(w->poll);
	*w = (struct waiting){ 0 };
}
