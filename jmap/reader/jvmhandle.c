/* SPDX-License-Identifier: Apache-2.0 */
#include "jmap/reader/jvmhandle.h"

#include "jmap/reader/allowance.h"
#include "common/arena.h"
#include "common/clocks.h"
#include "common/process/sandbox.h"
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

#define HANG_NS (5 * SECOND_NS) /* a helper that is blocked then is killed: the budget of a look ends before */
#define RUNS_NS (8 * SECOND_NS) /* and one that used so much CPU time, */
#define ANSWER_NS \
	(60 * SECOND_NS) /* or did not answer for so long, for any reason: a machine that is busy beyond measure */
#define ONCE_NS (12 * SECOND_NS) /* for a map of --once: as long as its budget, and 2 s */
#define LIST_NS (5 * SECOND_NS)  /* for a row of --list */
#define STUCK_NS SECOND_NS
#define LEAVE_NS (SECOND_NS / 5)

/* ---- the process ----------------------------------------------------------------------------------------------- */

static struct hotspot_reason cannot_start(void)
{
	struct hotspot_reason r = { .code = "no-helper" };

	snprintf(r.why, sizeof(r.why), "there can be no process to read it: %s", strerror(errno));
	return r;
}

static void jvmhandle_close_all(const int *fd, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (fd[i] >= 0)
			close(fd[i]);
}

/* fd: of the helper; READ_FD_MEM is there. False and errno. */
static bool jvmhandle_fork_helper(struct jvmhandle *l, const struct jvm_process *p, int fd[READ_FDS])
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return false;
	l->socket = pair[0];
	fd[READ_FD_SOCKET] = pair[1];
	fd[READ_FD_RECORDS] = memfd_create("records", MFD_CLOEXEC);
	fd[READ_FD_MAP] = memfd_create("map", MFD_CLOEXEC);
	l->helper = fd[READ_FD_RECORDS] < 0 || fd[READ_FD_MAP] < 0 ? -1 : fork();
	if (l->helper == 0)
		readhelper_run(p, fd);
	if (l->helper > 0)
		clock_getcpuclockid(l->helper, &l->clock);
	l->records = fd[READ_FD_RECORDS];
	l->map = fd[READ_FD_MAP];
	return l->helper > 0;
}

struct hotspot_reason jvmhandle_start(struct jvmhandle *l, const struct jvm_process *p)
{
	int fd[READ_FDS] = { -1, -1, -1, -1 };
	struct taskid_user user;
	struct hotspot_reason r = hotspot_check_kind(p);

	*l = (struct jvmhandle){ .socket = -1, .records = -1, .map = -1 };
	if (!r.code)
		r = hotspot_refusal(taskwait_open_memory(p->folder, &p->id, &user, &fd[READ_FD_MEM]));
	if (r.code)
		return r;
	if (!jvmhandle_fork_helper(l, p, fd)) {
		r = cannot_start();
		jvmhandle_close_all((const int[]){ l->socket, l->records, l->map }, 3);
		*l = (struct jvmhandle){ .socket = -1, .records = -1, .map = -1 };
	}
	jvmhandle_close_all((const int[]){ fd[READ_FD_SOCKET], fd[READ_FD_MEM] }, 2);
	return r;
}

void jvmhandle_end(struct jvmhandle *l, struct jvmhandle_left *left, struct tenant of)
{
	if (l->helper == 0)
		return;
	if (l->since) /* it may hang; one that is idle ends when its socket is closed */
		kill(l->helper, SIGKILL);
	jvmhandle_close_all((const int[]){ l->socket, l->records, l->map }, 3);
	left->one = mem_more(left->one, sizeof(*left->one), left->n);
	left->one[left->n++] = (struct jvmhandle_ended){ l->helper, of, clock_now() };
	*l = (struct jvmhandle){ .socket = -1, .records = -1, .map = -1 };
}

void jvmhandle_reap(struct jvmhandle_left *left)
{
	uint64_t now = clock_now();
	size_t saved = 0;

	for (size_t i = 0; i < left->n; i++) {
		if (waitpid(left->one[i].helper, NULL, WNOHANG) != 0)
			continue;
		if (now > left->one[i].since + STUCK_NS)
			kill(left->one[i].helper, SIGKILL);
		left->one[saved++] = left->one[i];
	}
	left->n = saved;
}

size_t jvmhandle_stuck(const struct jvmhandle_left *left, struct tenant of, uint64_t now)
{
	size_t n = 0;

	for (size_t i = 0; i < left->n; i++)
		n += tenant_same(left->one[i].tenant, of) && now > left->one[i].since + STUCK_NS;
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

/* ---- what it costs --------------------------------------------------------------------------------------------- */

uint64_t jvmhandle_cpu(struct jvmhandle *l)
{
	struct timespec t;
	uint64_t now, since;

	if (l->helper == 0 || clock_gettime(l->clock, &t) < 0)
		return 0;
	now = (uint64_t)t.tv_sec * SECOND_NS + (uint64_t)t.tv_nsec;
	since = now > l->cpu ? now - l->cpu : 0;
	l->cpu = now;
	return since;
}

/* The start of a file of the helper. */
static void jvmhandle_read_proc(const struct jvmhandle *l, const char *name, char *text, size_t n)
{
	char path[64];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)l->helper, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	got = fd < 0 ? -1 : read(fd, text, n - 1);
	if (fd >= 0)
		close(fd);
	text[got < 0 ? 0 : got] = 0;
}

static uint64_t jvmhandle_scheduled(const struct jvmhandle *l)
{
	unsigned long long ran, waited;
	char text[96];

	jvmhandle_read_proc(l, "schedstat", text, sizeof(text));
	return sscanf(text, "%llu %llu", &ran, &waited) == 2 ? ran + waited : 0;
}

uint64_t jvmhandle_blocked(struct jvmhandle *l, uint64_t since, uint64_t now)
{
	uint64_t before = l->scheduled, busy;

	l->scheduled = jvmhandle_scheduled(l);
	busy = l->scheduled > before ? l->scheduled - before : 0; /* or more: of requests that were short, too */
	return now - since > busy ? now - since - busy : 0;
}

bool jvmhandle_hangs(const struct jvmhandle *l, uint64_t now)
{
	char text[256];
	const char *state;
	struct timespec t;

	if (l->since == 0 || now < l->since + HANG_NS)
		return false;
	if (now > l->since + ANSWER_NS || clock_gettime(l->clock, &t) < 0 ||
	    (uint64_t)t.tv_sec * SECOND_NS > l->cpu + RUNS_NS)
		return true;
	jvmhandle_read_proc(l, "stat", text, sizeof(text));
	state = strrchr(text, ')');
	return !state || !state[1] || state[2] != 'R';
}

/* ---- requests -------------------------------------------------------------------------------------------------- */

void jvmhandle_query(struct jvmhandle *l, struct read_request *q, uint64_t now)
{
	struct iovec part = { q, sizeof(*q) };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };

	q->serial = ++l->serial;
	l->since = now;
	(void)sendmsg(l->socket, &message,
		      MSG_NOSIGNAL | MSG_DONTWAIT); /* a helper that ended is found by jvmlook_poll */
}

static void make_printable(char *text, size_t n)
{
	text[n - 1] = 0;
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			*text = '?';
}

enum jvmhandle_state jvmhandle_poll(struct jvmhandle *l, struct read_answer *a)
{
	ssize_t n;

	if (l->since == 0)
		return JVMHANDLE_IDLE;
	n = recv(l->socket, a, sizeof(*a), MSG_DONTWAIT | MSG_TRUNC);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return JVMHANDLE_BUSY;
	if (n != (ssize_t)sizeof(*a) || a->serial != l->serial)
		return JVMHANDLE_CRASHED;
	sandbox_warn(sandbox_reported());
	make_printable(a->code, sizeof(a->code));
	make_printable(a->why, sizeof(a->why));
	make_printable(a->version, sizeof(a->version));
	make_printable(a->command, sizeof(a->command));
	make_printable(a->collector, sizeof(a->collector));
	l->since = 0;
	return JVMHANDLE_ANSWERED;
}

struct hotspot_reason jvmhandle_reason(const struct read_answer *a)
{
	static const char *const codes[] = { "openj9",   "zing",         "no-permission", "no-jvm",     "gone",
					     "starting", "no-vmstructs", "unsupported",   "unreadable", "over-budget" };
	struct hotspot_reason r = { 0 };

	if (!a->code[0])
		return r;
	r.code = "unreadable";
	for (size_t i = 0; i < countof(codes); i++)
		if (strcmp(codes[i], a->code) == 0)
			r.code = codes[i];
	memcpy(r.why, a->why, sizeof(r.why));
	return r;
}

/* ---- one look -------------------------------------------------------------------------------------------------- */

static struct hotspot_reason jvmhandle_wait_for(struct jvmhandle *l, struct read_answer *a, uint64_t until)
{
	struct pollfd p = { .fd = l->socket, .events = POLLIN };
	enum jvmhandle_state state;

	while ((state = jvmhandle_poll(l, a)) == JVMHANDLE_BUSY && clock_now() < until)
		poll(&p, 1, 100);
	if (state == JVMHANDLE_ANSWERED)
		return jvmhandle_reason(a);
	*a = (struct read_answer){ .frame_pointers = -1 };
	return state == JVMHANDLE_BUSY ?
		       (struct hotspot_reason){ "hangs", "its memory does not answer" } :
		       (struct hotspot_reason){ "crashed", "the process that reads it was ended by an error" };
}

struct hotspot_reason jvmhandle_once(const struct jvm_process *p, enum read_task task, enum method_style style,
				     struct read_answer *a, int *map)
{
	struct readbudget budget = allowance_once();
	struct read_request q = {
		.task = task, .style = style, .steps = budget.steps, .bytes = budget.bytes, .deadline = budget.deadline
	};
	struct jvmhandle_left left = { 0 };
	struct jvmhandle l;
	struct hotspot_reason r = jvmhandle_start(&l, p);

	*a = (struct read_answer){ .frame_pointers = -1 };
	if (map)
		*map = -1;
	if (r.code)
		return r;
	jvmhandle_query(&l, &q, clock_now());
	r = jvmhandle_wait_for(&l, a, clock_now() + (task == READ_MAP ? ONCE_NS : LIST_NS));
	if (map && !r.code) {
		*map = l.map;
		l.map = -1;
	}
	jvmhandle_end(&l, &left, (struct tenant){ .kind = TENANT_UNKNOWN });
	jvmhandle_leave(&left);
	return r;
}
