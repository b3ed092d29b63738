/* SPDX-License-Identifier: Apache-2.0 */
#include "jmap/attach/targetuser.h"

#include "common/process/capabilities.h"
#include "common/clocks.h"
#include "common/files/targetfile.h"
#include "common/process/taskwait.h"
#include "common/files/fullio.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct hotspot_reason targetuser_fine(void)
{
	return (struct hotspot_reason){ 0 };
}

struct hotspot_reason guest_reason(const char *code, const char *fmt, ...)
{
	struct hotspot_reason reason = { .code = code };
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(reason.why, sizeof(reason.why), fmt, ap);
	va_end(ap);
	return reason;
}

/* ---- opening the directories ----------------------------------------------------------------------------------- */

/* Opens user->pidfd. A descriptor of /proc/PID refers to the same process for ever. If that process still runs after
 * pidfd_open, the pidfd refers to it, too. Returns false and sets errno on failure. */
static bool open_pidfd(struct targetuser *user, const struct taskid *id)
{
	user->pidfd = (int)syscall(SYS_pidfd_open, user->pid, 0);
	if (user->pidfd < 0)
		return false;
	errno = ESRCH;
	return taskwait_is(user->process, id);
}

struct hotspot_reason targetuser_enter(struct targetuser *g, const struct jvm_process *process)
{
	struct taskid_user user;
	struct hotspot_reason reason;

	*g = (struct targetuser){ .pid = process->pid,
				  .inner = process->inner,
				  .uid = process->uid,
				  .gid = process->gid,
				  .process = process->folder,
				  .root = -1,
				  .tmp = -1,
				  .cwd = -1,
				  .pidfd = -1 };
	if (process->uid == (uid_t)-1 || process->gid == (gid_t)-1)
		return guest_reason("gone", "its user cannot be determined");
	if (geteuid() != 0 && geteuid() != process->uid)
		return guest_reason("no-permission", "it belongs to another user: run as root");
	reason = hotspot_may_show(process->folder, &process->id, &user);
	if (reason.code)
		return reason;
	if (!open_pidfd(g, &process->id))
		return guest_reason(errno == ENOSYS ? "old-kernel" : "gone", "%s",
				    errno == ENOSYS ? "Linux 5.6 is required" : "it ended");
	g->root = taskwait_folder(g->process, "root");
	if (g->root < 0)
		return guest_reason("no-permission", "its root may not be opened: run as root, or with CAP_SYS_PTRACE");
	g->cwd = taskwait_folder(g->process, "cwd");
	g->tmp = targetfile_folder(g->root, STR("tmp"));
	if (g->tmp < 0)
		return guest_reason(errno == ENOSYS ? "old-kernel" : "no-tmp", "%s",
				    errno == ENOSYS ? "Linux 5.6 is required" : "it has no directory /tmp");
	return targetuser_fine();
}

void targetuser_leave(struct targetuser *user)
{
	int *fd[] = { &user->root, &user->tmp, &user->cwd, &user->pidfd };

	for (size_t i = 0; i < countof(fd); i++) {
		if (*fd[i] >= 0)
			close(*fd[i]);
		*fd[i] = -1;
	}
}

/* ---- the child process ------------------------------------------------------------------------------------------- */

/* Changes this child to the target's user and group and drops all capabilities, even if the target runs as root. This
 * cannot be undone. Also prevents processes of the target's user from tracing the child. Returns false on failure. */
static bool take_credentials(const struct targetuser *user)
{
	if (geteuid() == 0 && (setgroups(0, NULL) < 0 || setresgid(user->gid, user->gid, user->gid) < 0 ||
			       setresuid(user->uid, user->uid, user->uid) < 0))
		return false;
	return capabilities_limit(0) && prctl(PR_SET_DUMPABLE, 0) == 0;
}

/* Reason of the job's failure, as the child writes it to the pipe, before the output of the job. code is empty on
 * success. size: size of that output in bytes, which shows whether all of it arrived. */
struct answer {
	char code[24], why[160];
	uint64_t size;
};

static NORETURN void targetuser_work(const struct targetuser *user, int to, targetuser_job *job, void *arg)
{
	struct text out = { 0 };
	struct answer answer = { 0 };
	struct hotspot_reason reason;

	signal(SIGPIPE, SIG_IGN);
	if (take_credentials(user))
		reason = job(user, arg, &out);
	else
		reason =
			guest_reason("no-permission", "cannot become its user: CAP_SETUID and CAP_SETGID are required");
	if (reason.code) {
		snprintf(answer.code, sizeof(answer.code), "%s", reason.code);
		snprintf(answer.why, sizeof(answer.why), "%s", reason.why);
	}
	answer.size = out.n;
	fullio_write(to, (struct str){ (const char *)&answer, sizeof(answer) });
	fullio_write(to, text_view(&out));
	/* _exit, because exit would also flush the stdio buffers that the child inherited from pjmap. */
	_exit(0);
}

/* Returns a static copy of a code that the child sent, or "failed" if the code is unknown: the child is untrusted. */
static const char *known_code(const char *code)
{
	static const char *const known[] = { "no-permission", "attach-disabled", "no-handler", "stopped",
					     "ro-tmp",        "cred-rejected",   "timeout",    "too-old",
					     "in-the-way",    "refused",         "starting",   "gone",
					     "bad-reply",     "no-map",          "noexec-tmp", "full" };

	for (size_t i = 0; i < countof(known); i++)
		if (strcmp(known[i], code) == 0)
			return known[i];
	return "failed";
}

/* Returns true if `all` is an answer with all of its output, of which at most `max` bytes are taken. */
static bool is_complete_answer(struct str all, size_t max)
{
	struct answer answer;

	if (all.n < sizeof(answer))
		return false;
	memcpy(&answer, all.p, sizeof(answer));
	return all.n - sizeof(answer) >= (answer.size < max ? answer.size : max);
}

/* Reads `from` to its end and appends its bytes to `text`, which gets at most `max` bytes; further ones are dropped.
 * Returns false at the time `until` (ms of clock_now_ms), or on an error. */
static bool targetuser_collect(int from, uint64_t until, size_t max, struct text *text)
{
	for (;;) {
		struct pollfd polled = { .fd = from, .events = POLLIN };
		uint64_t now = clock_now_ms();
		char buffer[4096];
		ssize_t got;

		if (now >= until)
			return false;
		if (poll(&polled, 1, (int)(until - now)) <= 0)
			continue;
		got = read(from, buffer, sizeof(buffer));
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got == 0;
		if (text->n + (size_t)got > max)
			got = (ssize_t)(max - text->n);
		text_bytes(text, buffer, (size_t)got);
	}
}

struct hotspot_reason guest_do(const struct targetuser *user, targetuser_job *job, void *arg, unsigned seconds,
			       size_t max, struct text *out)
{
	struct answer answer;
	struct text all = { 0 };
	bool in_time;
	int end[2];
	pid_t child;

	if (pipe2(end, O_CLOEXEC) < 0)
		return guest_reason("failed", "%s", strerror(errno));
	child = fork();
	if (child < 0) {
		close(end[0]);
		close(end[1]);
		return guest_reason("failed", "cannot start a child process: %s", strerror(errno));
	}
	if (child == 0) {
		close(end[0]);
		targetuser_work(user, end[1], job, arg);
	}
	close(end[1]);
	in_time = targetuser_collect(end[0], clock_now_ms() + seconds * 1000u, sizeof(answer) + max, &all);
	close(end[0]);
	kill(child, SIGKILL);
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	if (!is_complete_answer(text_view(&all), max)) {
		text_free(&all);
		return in_time ? guest_reason("failed", "the child process that attaches ended early") :
				 guest_reason("timeout", "it does not answer");
	}
	memcpy(&answer, all.p, sizeof(answer));
	text_str(out, str_from(text_view(&all), sizeof(answer)));
	text_free(&all);
	answer.code[sizeof(answer.code) - 1] = answer.why[sizeof(answer.why) - 1] = 0;
	return answer.code[0] ? guest_reason(known_code(answer.code), "%s", answer.why) : targetuser_fine();
}

/* ---- functions for use in the child process ---------------------------------------------------------------------- */

int targetuser_create(const struct targetuser *user, char name[TARGETUSER_NAME], const char *suffix, mode_t mode)
{
	uint64_t random;
	int fd;

	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return -1;
	snprintf(name, TARGETUSER_NAME, ".pjmap-%016llx%s", (unsigned long long)random, suffix);
	fd = openat(user->tmp, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	/* openat has removed the bits of the umask from the mode; fchmod sets the exact mode. */
	if (fd >= 0 && fchmod(fd, mode) < 0) {
		close(fd);
		unlinkat(user->tmp, name, 0);
		fd = -1;
	}
	return fd;
}

bool targetuser_is_own(const struct targetuser *user, const char *name, bool *is_there)
{
	struct stat status;

	*is_there = fstatat(user->tmp, name, &status, AT_SYMLINK_NOFOLLOW) == 0;
	return *is_there ? S_ISREG(status.st_mode) && status.st_nlink == 1 && status.st_uid == user->uid :
			   errno == ENOENT;
}
