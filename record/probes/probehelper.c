/* SPDX-License-Identifier: Apache-2.0 */
#include "record/probes/probehelper.h"

#include "common/clocks.h"
#include "common/process/fdmessage.h"
#include "common/process/helperprocess.h"
#include "common/process/urgency.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define END_MS 1000 /* maximum time to wait for the end of a killed helper process, in ms */
#define STOP_MS 100 /* interval of checks for a stop while waiting, in ms */

/* Waits until the helper process replies, pjrecord must stop, or the time is over. Returns true if there is a reply. A
 * signal between the check of *stop and poll does not interrupt poll, so each poll waits at most STOP_MS. */
static bool wait_for_probe(const struct probehelper *helper)
{
	struct pollfd polled = { .fd = helper->socket, .events = POLLIN };
	int ready = 0;

	while (ready <= 0 && !*helper->work.stop && clock_now_ms() < helper->work.end) {
		ready = poll(&polled, 1, STOP_MS);
		if (ready < 0 && errno != EINTR)
			break;
	}
	return ready > 0;
}

bool probehelper_start(struct probehelper *helper, const struct probehelper_work *work)
{
	int pair[2], fds[2];
	int error;

	*helper = (struct probehelper){ .work = *work, .socket = -1 };
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return false;
	fds[0] = pair[1];
	fds[1] = work->file;
	helper->pid = helperprocess_start(&(struct helperprocess){ "pjrecord-probe", fds, work->file >= 0 ? 2 : 1,
								   URGENCY_USUAL, work->run, work->to });
	error = errno;
	close(pair[1]);
	if (helper->pid)
		helper->socket = pair[0];
	else
		close(pair[0]);
	errno = error;
	return helper->pid;
}

enum probehelper_answer probehelper_take(struct probehelper *helper, void *reply, size_t n, int *fd)
{
	*fd = -1;
	if (!wait_for_probe(helper))
		return *helper->work.stop ? PROBEHELPER_STOPPED : PROBEHELPER_LATE;
	return fdmessage_take(helper->socket, reply, n, fd) == (ssize_t)n ? PROBEHELPER_DONE : PROBEHELPER_ENDED;
}

/* Waits at most END_MS for the end of the helper process, because a file system may block one of its threads, also
 * after its reply. If it ends later, init reaps it once pjrecord has ended. */
void probehelper_end(struct probehelper *helper)
{
	const struct timespec moment = { .tv_nsec = 1000000 };
	uint64_t end = clock_now_ms() + END_MS;

	kill(helper->pid, SIGKILL);
	while (waitpid(helper->pid, NULL, WNOHANG) == 0 && clock_now_ms() < end)
		nanosleep(&moment, NULL);
	close(helper->socket);
}

enum probehelper_answer probehelper_run(const struct probehelper_work *work, void *reply, size_t n, int *fd)
{
	struct probehelper helper;
	enum probehelper_answer answer;

	*fd = -1;
	if (!probehelper_start(&helper, work))
		return PROBEHELPER_FAILED;
	answer = probehelper_take(&helper, reply, n, fd);
	probehelper_end(&helper);
	if (answer == PROBEHELPER_ENDED && *fd >= 0) {
		close(*fd);
		*fd = -1;
	}
	return answer;
}
