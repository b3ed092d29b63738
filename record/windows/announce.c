/* SPDX-License-Identifier: Apache-2.0 */
#include "record/windows/announce.h"

#include "common/diag.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#define WAITING_MAX ((size_t)64 << 10)

static uint64_t announce_lines(struct str s)
{
	uint64_t n = 0;

	for (size_t i = 0; i < s.n; i++)
		n += s.p[i] == '\n';
	return n;
}

static void announce_give_up(struct announce *a, const char *why)
{
	warn("cannot print paths of windows any more: standard output: %s; recording goes on", why);
	a->gone = true;
	a->unprinted += announce_lines(text_view(&a->waiting));
	a->waiting.n = 0;
}

void announce_path(struct announce *a, struct str path)
{
	if (a->gone || a->waiting.n + path.n > WAITING_MAX) {
		a->unprinted++;
		if (!a->gone && !a->slow)
			warn("nobody reads the paths on standard output: more are not printed until somebody does");
		a->slow = a->slow || !a->gone;
		return;
	}
	text_str(&a->waiting, path);
	text_char(&a->waiting, '\n');
	announce_flush(a, 0);
}

/* May one line be written now, without waiting for longer? A pipe that is ready takes PIPE_BUF bytes. */
static bool announce_ready(int ms)
{
	struct pollfd p = { .fd = STDOUT_FILENO, .events = POLLOUT };
	int n;

	while ((n = poll(&p, 1, ms)) < 0 && errno == EINTR)
		;
	return n != 0; /* also when it failed: write says why */
}

bool announce_flush(struct announce *a, int ms)
{
	while (a->waiting.n && announce_ready(ms)) {
		struct str rest = text_view(&a->waiting), line = str_cut(&rest, '\n');
		ssize_t n = write(STDOUT_FILENO, line.p, line.n + 1);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			break;
		if (n < 0) {
			announce_give_up(a, strerror(errno));
			break;
		}
		a->waiting.n -= (size_t)n;
		memmove(a->waiting.p, a->waiting.p + n, a->waiting.n);
		a->slow = false;
	}
	return a->waiting.n == 0;
}

void announce_end(struct announce *a, int ms)
{
	if (!announce_flush(a, ms))
		announce_give_up(a, "its reader does not read");
	text_free(&a->waiting);
}
