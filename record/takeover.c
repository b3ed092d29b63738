/* SPDX-License-Identifier: Apache-2.0 */
#include "record/takeover.h"

#include "common/clocks.h"
#include "common/diag.h"
#include "record/windows/windows.h"

#include <errno.h>
#include <string.h>

/* time in ms after takeover_begin at which a message names the replaced recorder if it has not ended */
#define REPORT_MS 10000

/* Sets [*from, *to) to the time, in s since 1970, for which this recorder will write windows. The time is known only
 * for a run of cron (--align with a number of windows), whose first window begins at the next border. Otherwise it is
 * unlimited: 0 to RECORDERLOCK_END. */
static void takeover_seconds(const struct request *request, uint64_t *from, uint64_t *to)
{
	uint64_t now = clock_wall() / SECOND_NS;

	*from = 0;
	*to = RECORDERLOCK_END;
	if (!request->align || !request->count || request->count > RECORDERLOCK_END / 2 / request->seconds)
		return;
	*from = now - now % request->seconds + request->seconds;
	*to = *from + request->count * request->seconds;
}

static NORETURN void takeover_refuse(const struct takeover *takeover, bool is_taking_over)
{
	pid_t pid = recorderlock_holder(&takeover->lock);

	if (is_taking_over)
		die("another recorder, process %ld, is taking over '%s' at this moment", (long)pid, takeover->dir);
	if (pid > 0)
		die("another recorder, process %ld, writes windows into '%s': choose another --dir, or take over from "
		    "it without a gap: --replace",
		    (long)pid, takeover->dir);
	die("another recorder, in another PID namespace or on another host, writes windows into '%s': choose another "
	    "--dir",
	    takeover->dir);
}

void takeover_begin(struct takeover *takeover, const struct request *request)
{
	uint64_t from, to;

	*takeover = (struct takeover){ .dir = request->dir, .begin_ms = clock_now_ms() };
	takeover_seconds(request, &from, &to);
	if (!windows_lock(request->dir, from, to, &takeover->lock))
		die_errno("cannot use '%s/recording/recorder'", request->dir);
	takeover->held = recorderlock_take(&takeover->lock, request->replace);
	if (takeover->held)
		return;
	if (errno == EBUSY || (errno == EAGAIN && !request->replace))
		takeover_refuse(takeover, errno == EBUSY && request->replace);
	if (errno == EAGAIN)
		return;
	warn("cannot lock '%s/recording/recorder': %s: a second recorder would not be noticed", takeover->dir,
	     strerror(errno));
	takeover->held = true;
}

void takeover_tick(struct takeover *takeover)
{
	pid_t pid;

	takeover->held = takeover->held || recorderlock_take(&takeover->lock, true);
	if (takeover->held || takeover->reported || clock_now_ms() < takeover->begin_ms + REPORT_MS)
		return;
	pid = recorderlock_holder(&takeover->lock);
	if (pid <= 0)
		return;
	takeover->reported = true;
	warn("process %ld, which recorded into '%s' before, has not ended yet: its last window is missing until then",
	     (long)pid, takeover->dir);
}

void takeover_release(struct takeover *takeover)
{
	recorderlock_release(&takeover->lock);
	recorderlock_close(&takeover->lock);
}
