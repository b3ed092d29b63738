/* SPDX-License-Identifier: Apache-2.0 */
#include "record/perf/privileges.h"

#include "common/process/capabilities.h"
#include "common/diag.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define BIT CAPABILITY_BIT

static const struct {
	unsigned cap;
	const char *name;
} wanted[] = {
	{ PRIV_PERFMON, "perfmon" },     { PRIV_IPC_LOCK, "ipc_lock" },
	{ PRIV_SYSLOG, "syslog" },       { PRIV_SYS_PTRACE, "sys_ptrace" },
	{ PRIV_SYS_ADMIN, "sys_admin" }, { PRIV_DAC_READ_SEARCH, "dac_read_search" },
	{ PRIV_SYS_NICE, "sys_nice" },   { PRIV_SYS_RESOURCE, "sys_resource" },
};

static bool with_realtime; /* true if privileges_keep_realtime was called: privileges_drop then keeps SYS_NICE, too */

/* Returns the subset of the capabilities `permitted` that the process keeps as user uid. It contains SYS_ADMIN only if
 * PERFMON is not permitted, because older kernels do not have PERFMON. It contains SYS_RESOURCE only for root: the
 * kernel counts root's descriptors in flight together with those of root in containers, and the limit for them does not
 * apply with SYS_RESOURCE (fdmessage_prepare). */
static uint64_t to_keep(uint64_t permitted, uid_t uid)
{
	uint64_t keep = BIT(PRIV_PERFMON) | BIT(PRIV_IPC_LOCK) | BIT(PRIV_SYSLOG) | BIT(PRIV_SYS_PTRACE) |
			BIT(PRIV_DAC_READ_SEARCH);

	if (uid == 0)
		keep |= BIT(PRIV_SYS_RESOURCE);
	if (!(permitted & BIT(PRIV_PERFMON)))
		keep |= BIT(PRIV_SYS_ADMIN);
	if (with_realtime)
		keep |= BIT(PRIV_SYS_NICE);
	return keep & permitted;
}

void privileges_keep_realtime(void)
{
	with_realtime = true;
}

bool privileges_has(unsigned cap)
{
	struct capabilities capabilities;

	return cap < 64 && capabilities_get(&capabilities) && capabilities.effective >> cap & 1;
}

/* Waits for a child process and returns its exit status; -1 if it did not exit by itself, or if pid is not positive. */
static int privileges_wait(pid_t pid)
{
	int status = -1;

	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int privileges_realtime(void)
{
	struct sched_param lowest = { .sched_priority = 1 };
	pid_t pid = fork();
	int error;

	if (pid == 0) {
		if (sched_setscheduler(0, SCHED_FIFO, &lowest) == 0)
			_exit(0);
		/* Distinguishes a system call filter from the kernel. No process has this pid, so the kernel returns
		 * ESRCH before it checks rights; a filter fails the call before the kernel looks for the process. */
		_exit(sched_setscheduler(INT32_MAX, SCHED_FIFO, &lowest) < 0 && errno == ESRCH ? EPERM : ENOSYS);
	}
	if (pid < 0)
		return errno;
	error = privileges_wait(pid);
	return error < 0 ? ENOSYS : error;
}

int privileges_memory(void)
{
	pid_t other = fork(), reader;
	char path[40];
	int error;

	if (other == 0) {
		pause();
		_exit(0);
	}
	if (other < 0)
		return errno;
	reader = fork();
	if (reader == 0) {
		snprintf(path, sizeof(path), "/proc/%ld/mem", (long)other);
		_exit(open(path, O_RDONLY | O_CLOEXEC) >= 0 ? 0 : errno);
	}
	error = privileges_wait(reader);
	kill(other, SIGKILL);
	privileges_wait(other);
	return error < 0 ? ECHILD : error;
}

void privileges_text(struct text *text)
{
	size_t start = text->n;

	for (size_t i = 0; i < countof(wanted); i++) {
		if (!privileges_has(wanted[i].cap))
			continue;
		text_add(text, text->n > start ? ", " : "");
		text_add(text, wanted[i].name);
	}
	if (text->n == start)
		text_add(text, "no capability");
}

void privileges_user(const char *name, uid_t *uid, gid_t *gid)
{
	const struct passwd *user;
	uint64_t number;
	bool is_number = str_u64(str_of(name), &number) && number < (uid_t)-1;

	errno = 0;
	user = getpwnam(name);
	if (!user && is_number) {
		errno = 0;
		user = getpwuid((uid_t)number);
	}
	if (user) {
		*uid = user->pw_uid;
		*gid = user->pw_gid;
	} else if (is_number) {
		*uid = (uid_t)number;
		*gid = (gid_t)number;
	} else {
		die_usage("no user '%s'%s", name,
			  errno && errno != ENOENT && errno != ESRCH ? " (or the user database does not respond)" : "");
	}
}

static unsigned privileges_threads(void)
{
	DIR *dir = opendir("/proc/self/task");
	const struct dirent *entry;
	unsigned n = 0;

	if (!dir)
		return 1;
	while ((entry = readdir(dir)))
		n += entry->d_name[0] != '.';
	closedir(dir);
	return n;
}

static void privileges_become(uid_t uid, gid_t gid)
{
	const struct passwd *user = getpwuid(uid);

	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) < 0)
		die_errno("cannot keep capabilities");
	if ((user && user->pw_gid == gid ? initgroups(user->pw_name, gid) : setgroups(0, NULL)) < 0 ||
	    setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0)
		die_errno("cannot become user %lu, group %lu", (unsigned long)uid, (unsigned long)gid);
}

void privileges_drop(uid_t uid, gid_t gid)
{
	struct capabilities capabilities;
	uint64_t keep;

	if (privileges_threads() > 1)
		die("privileges can be dropped only before threads start");
	if (getuid() != geteuid())
		die("set-uid is not supported: use setcap (see pjrecord --check)");
	if (!capabilities_get(&capabilities))
		die_errno("cannot read capabilities");
	uid = uid == (uid_t)-1 ? geteuid() : uid;
	gid = gid == (gid_t)-1 ? getegid() : gid;
	keep = to_keep(capabilities.permitted, uid);
	if ((uid != geteuid() || gid != getegid()) && geteuid() != 0)
		die("only root can become another user");
	if (capabilities.effective & BIT(CAP_SETPCAP))
		/* reduces the bounding set before the change of user, which drops SETPCAP */
		capabilities_bound(keep);
	if (uid != geteuid() || gid != getegid())
		privileges_become(uid, gid);
	if (!capabilities_limit(keep))
		die_errno("cannot drop capabilities");
	if (geteuid() != uid || getegid() != gid)
		die("the user is wrong after privileges were dropped");
}
