/* SPDX-License-Identifier: Apache-2.0 */
#include "jmap/reader/jvmhandle.h"

#include "jmap/reader/allowance.h"
#include "common/arena.h"
#include "common/clocks.h"
#include "common/process/sandbox.h"
#include "common/process/taskid.h"
#include "common/process/taskwait.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* time in ns after a request at which a blocked helper is killed; the time budget of a scan is shorter */
#define HANG_NS (5 * SECOND_NS)
/* CPU time in ns, counted from the last jvmhandle_cpu, after which a helper without answer is killed; checked once
 * HANG_NS has passed */
#define RUNS_NS (8 * SECOND_NS)
/* time in ns after a request at which a helper without answer is killed in any case: the machine is extremely
 * overloaded */
#define ANSWER_NS (60 * SECOND_NS)
/* time limit in ns for a map of --once: the helper stops reading after 10 s (allowance_once); 2 s more are for its
 * start and its reply */
#define ONCE_NS (12 * SECOND_NS)
/* time limit in ns for a request other than READ_MAP, such as for a row of --list; after it the request fails */
#define LIST_NS (5 * SECOND_NS)
/* time in ns after which a helper that pjmap has ended but that still runs is killed, and counted by jvmhandle_stuck */
#define STUCK_NS SECOND_NS
/* time in ns for which pjmap waits for the exit of helpers when it ends */
#define LEAVE_NS (SECOND_NS / 5)

/* ---- start and end of the helper process ------------------------------------------------------------------------- */

static struct hotspot_reason cannot_start(void)
{
	struct hotspot_reason reason = { .code = "no-helper" };

	snprintf(reason.why, sizeof(reason.why), "cannot start a process to read it: %s", strerror(errno));
	return reason;
}

static void jvmhandle_close_all(const int *fd, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (fd[i] >= 0)
			close(fd[i]);
}

/* Forks the helper of a JVM. The caller has opened fd[READ_FD_MEM]; this function opens the other descriptors. Returns
 * false and sets errno on failure. */
static bool jvmhandle_fork_helper(struct jvmhandle *handle, const struct jvm_process *process, int fd[READ_FDS])
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return false;
	handle->socket = pair[0];
	fd[READ_FD_SOCKET] = pair[1];
	fd[READ_FD_RECORDS] = memfd_create("records", MFD_CLOEXEC);
	fd[READ_FD_MAP] = memfd_create("map", MFD_CLOEXEC);
	handle->helper = fd[READ_FD_RECORDS] < 0 || fd[READ_FD_MAP] < 0 ? -1 : fork();
	if (handle->helper == 0)
		readhelper_run(process, fd);
	if (handle->helper > 0)
		clock_getcpuclockid(handle->helper, &handle->clock);
	handle->records = fd[READ_FD_RECORDS];
	handle->map = fd[READ_FD_MAP];
	return handle->helper > 0;
}

struct hotspot_reason jvmhandle_start(struct jvmhandle *handle, const struct jvm_process *process)
{
	int fd[READ_FDS] = { -1, -1, -1, -1 };
	struct taskid_user user;
	struct hotspot_reason reason = hotspot_check_kind(process);

	*handle = (struct jvmhandle){ .socket = -1, .records = -1, .map = -1 };
	if (!reason.code)
		reason = hotspot_refusal(taskwait_open_memory(process->folder, &process->id, &user, &fd[READ_FD_MEM]));
	if (reason.code)
		return reason;
	if (!jvmhandle_fork_helper(handle, process, fd)) {
		reason = cannot_start();
		jvmhandle_close_all((const int[]){ handle->socket, handle->records, handle->map }, 3);
		*handle = (struct jvmhandle){ .socket = -1, .records = -1, .map = -1 };
	}
	jvmhandle_close_all((const int[]){ fd[READ_FD_SOCKET], fd[READ_FD_MEM] }, 2);
	return reason;
}

void jvmhandle_end(struct jvmhandle *handle, struct jvmhandle_left *left, struct tenant tenant)
{
	if (handle->helper == 0)
		return;
	/* A busy helper may hang, so it is killed. An idle helper exits when its socket is closed. */
	if (handle->since)
		kill(handle->helper, SIGKILL);
	jvmhandle_close_all((const int[]){ handle->socket, handle->records, handle->map }, 3);
	left->one = mem_more(left->one, sizeof(*left->one), left->n);
	left->one[left->n++] = (struct jvmhandle_ended){ handle->helper, tenant, clock_now() };
	*handle = (struct jvmhandle){ .socket = -1, .records = -1, .map = -1 };
}

void jvmhandle_reap(struct jvmhandle_left *left)
{
	uint64_t now = clock_now();
	size_t retained = 0;

	for (size_t i = 0; i < left->n; i++) {
		if (waitpid(left->one[i].helper, NULL, WNOHANG) != 0)
			continue;
		if (now > left->one[i].since + STUCK_NS)
			kill(left->one[i].helper, SIGKILL);
		left->one[retained++] = left->one[i];
	}
	left->n = retained;
}

size_t jvmhandle_stuck(const struct jvmhandle_left *left, struct tenant tenant, uint64_t now)
{
	size_t n = 0;

	for (size_t i = 0; i < left->n; i++)
		n += tenant_same(left->one[i].tenant, tenant) && now > left->one[i].since + STUCK_NS;
	return n;
}

void jvmhandle_leave(struct jvmhandle_left *left)
{
	static const struct timespec moment = { .tv_nsec = 1000000 };
	uint64_t until = clock_now() + LEAVE_NS;

	for (jvmhandle_reap(left); left->n && clock_now() < until; jvmhandle_reap(left))
		nanosleep(&moment, NULL);
	for (size_t i = 0; i < left->n; i++)
		kill(left->one[i].helper, SIGKILL);
	free(left->one);
	*left = (struct jvmhandle_left){ 0 };
}

/* ---- CPU time and blocked time of the helper --------------------------------------------------------------------- */

uint64_t jvmhandle_cpu(struct jvmhandle *handle)
{
	struct timespec spec;
	uint64_t now, since;

	if (handle->helper == 0 || clock_gettime(handle->clock, &spec) < 0)
		return 0;
	now = (uint64_t)spec.tv_sec * SECOND_NS + (uint64_t)spec.tv_nsec;
	since = now > handle->cpu ? now - handle->cpu : 0;
	handle->cpu = now;
	return since;
}

/* Reads the first n - 1 bytes of /proc/PID/NAME of the helper into `text` as a string, which is empty if the file
 * cannot be read. */
static void jvmhandle_read_proc(const struct jvmhandle *handle, const char *name, char *text, size_t n)
{
	char path[64];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)handle->helper, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	got = fd < 0 ? -1 : read(fd, text, n - 1);
	if (fd >= 0)
		close(fd);
	text[got < 0 ? 0 : got] = 0;
}

static uint64_t jvmhandle_scheduled(const struct jvmhandle *handle)
{
	unsigned long long ran, waited;
	char text[96];

	jvmhandle_read_proc(handle, "schedstat", text, sizeof(text));
	return sscanf(text, "%llu %llu", &ran, &waited) == 2 ? ran + waited : 0;
}

uint64_t jvmhandle_blocked(struct jvmhandle *handle, uint64_t since, uint64_t now)
{
	uint64_t before = handle->scheduled, busy;

	handle->scheduled = jvmhandle_scheduled(handle);
	/* The difference includes earlier requests for which this function was not called: short ones. So the blocked
	 * time is rather too small than too large. */
	busy = handle->scheduled > before ? handle->scheduled - before : 0;
	return now - since > busy ? now - since - busy : 0;
}

bool jvmhandle_hangs(const struct jvmhandle *handle, uint64_t now)
{
	char text[256];
	struct timespec spec;

	if (handle->since == 0 || now < handle->since + HANG_NS)
		return false;
	if (now > handle->since + ANSWER_NS || clock_gettime(handle->clock, &spec) < 0 ||
	    (uint64_t)spec.tv_sec * SECOND_NS > handle->cpu + RUNS_NS)
		return true;
	jvmhandle_read_proc(handle, "stat", text, sizeof(text));
	return taskid_state(str_of(text)) != 'R';
}

/* ---- requests to the helper -------------------------------------------------------------------------------------- */

void jvmhandle_query(struct jvmhandle *handle, struct read_request *request, uint64_t now)
{
	struct iovec part = { request, sizeof(*request) };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };

	request->serial = ++handle->serial;
	handle->since = now;
	/* An error is ignored here: if the helper has exited, jvmhandle_poll reports that. */
	(void)sendmsg(handle->socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void make_printable(char *text, size_t n)
{
	text[n - 1] = 0;
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			*text = '?';
}

enum jvmhandle_state jvmhandle_poll(struct jvmhandle *handle, struct read_answer *answer)
{
	ssize_t got;

	if (handle->since == 0)
		return JVMHANDLE_IDLE;
	got = recv(handle->socket, answer, sizeof(*answer), MSG_DONTWAIT | MSG_TRUNC);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return JVMHANDLE_BUSY;
	if (got != (ssize_t)sizeof(*answer) || answer->serial != handle->serial)
		return JVMHANDLE_CRASHED;
	sandbox_warn(sandbox_reported());
	make_printable(answer->code, sizeof(answer->code));
	make_printable(answer->why, sizeof(answer->why));
	make_printable(answer->version, sizeof(answer->version));
	make_printable(answer->command, sizeof(answer->command));
	make_printable(answer->collector, sizeof(answer->collector));
	handle->since = 0;
	return JVMHANDLE_ANSWERED;
}

struct hotspot_reason jvmhandle_reason(const struct read_answer *answer)
{
	static const char *const codes[] = { "openj9",   "zing",         "no-permission", "no-jvm",     "gone",
					     "starting", "no-vmstructs", "unsupported",   "unreadable", "over-budget" };
	struct hotspot_reason reason = { 0 };

	if (!answer->code[0])
		return reason;
	reason.code = "unreadable";
	for (size_t i = 0; i < countof(codes); i++)
		if (strcmp(codes[i], answer->code) == 0)
			reason.code = codes[i];
	memcpy(reason.why, answer->why, sizeof(reason.why));
	return reason;
}

/* ---- helper for one request -------------------------------------------------------------------------------------- */

static struct hotspot_reason jvmhandle_wait_for(struct jvmhandle *handle, struct read_answer *answer, uint64_t until)
{
	struct pollfd polled = { .fd = handle->socket, .events = POLLIN };
	enum jvmhandle_state state;

	while ((state = jvmhandle_poll(handle, answer)) == JVMHANDLE_BUSY && clock_now() < until)
		poll(&polled, 1, 100);
	if (state == JVMHANDLE_ANSWERED)
		return jvmhandle_reason(answer);
	*answer = (struct read_answer){ .frame_pointers = -1 };
	return state == JVMHANDLE_BUSY ? (struct hotspot_reason){ "hangs", "its memory does not respond" } :
					 (struct hotspot_reason){ "crashed", "the process that reads it crashed" };
}

struct hotspot_reason jvmhandle_once(const struct jvm_process *process, enum read_task task, enum method_style style,
				     struct read_answer *answer, int *map)
{
	struct readbudget budget = allowance_once();
	struct read_request request = {
		.task = task, .style = style, .steps = budget.steps, .bytes = budget.bytes, .deadline = budget.deadline
	};
	struct jvmhandle_left left = { 0 };
	struct jvmhandle handle;
	struct hotspot_reason reason = jvmhandle_start(&handle, process);

	*answer = (struct read_answer){ .frame_pointers = -1 };
	if (map)
		*map = -1;
	if (reason.code)
		return reason;
	jvmhandle_query(&handle, &request, clock_now());
	reason = jvmhandle_wait_for(&handle, answer, clock_now() + (task == READ_MAP ? ONCE_NS : LIST_NS));
	if (map && !reason.code) {
		*map = handle.map;
		handle.map = -1;
	}
	jvmhandle_end(&handle, &left, (struct tenant){ .kind = TENANT_UNKNOWN });
	jvmhandle_leave(&left);
	return reason;
}
