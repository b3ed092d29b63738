/* SPDX-License-Identifier: Apache-2.0 */
#include "record/windows/announce.h"

#include "common/diag.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#define WAITING_MAX ((size_t)64 << 10)

static uint64_t announce_lines(struct str string)
{
	uint64_t n = 0;

	for (size_t i = 0; i < string.n; i++)
		n += string.p[i] == '\n';
	return n;
}

static void announce_give_up(struct announce *announce, const char *why)
{
	warn("cannot print more paths of windows: standard output: %s; recording continues", why);
	announce->gone = true;
	announce->unprinted += announce_lines(text_view(&announce->waiting));
	announce->waiting.n = 0;
}

void announce_path(struct announce *announce, struct str path)
{
	if (announce->gone || announce->waiting.n + path.n > WAITING_MAX) {
		announce->unprinted++;
		if (!announce->gone && !announce->slow)
			warn("paths on standard output are not read: printing pauses until they are");
		announce->slow = announce->slow || !announce->gone;
		return;
	}
	text_str(&announce->waiting, path);
	text_char(&announce->waiting, '\n');
	announce_flush(announce, 0);
}

/* Returns true if standard output accepts a line within wait_ms, or if poll fails; false if it accepts none. A pipe
 * that is ready accepts PIPE_BUF bytes. */
static bool announce_ready(int wait_ms)
{
	struct pollfd polled = { .fd = STDOUT_FILENO, .events = POLLOUT };
	int got;

	while ((got = poll(&polled, 1, wait_ms)) < 0 && errno == EINTR)
		;
	return got != 0; /* true if poll failed, too: then write returns the reason */
}

bool announce_flush(struct announce *announce, int wait_ms)
{
	while (announce->waiting.n && announce_ready(wait_ms)) {
		struct str rest = text_view(&announce->waiting), line = str_cut(&rest, '\n');
		ssize_t got = write(STDOUT_FILENO, line.p, line.n + 1);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && errno == EAGAIN)
			break;
		if (got < 0) {
			announce_give_up(announce, strerror(errno));
			break;
		}
		announce->waiting.n -= (size_t)got;
		memmove(announce->waiting.p, announce->waiting.p + got, announce->waiting.n);
		announce->slow = false;
	}
	return announce->waiting.n == 0;
}

void announce_end(struct announce *announce, int wait_ms)
{
	if (!announce_flush(announce, wait_ms))
		announce_give_up(announce, "its reader has stopped reading");
	text_free(&announce->waiting);
}
