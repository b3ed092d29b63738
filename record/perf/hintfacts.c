/* SPDX-License-Identifier: Apache-2.0 */
/* hintfacts.c - reads the facts of struct hint_facts (hints.h) from /proc, /sys and the environment. */
#include "record/perf/hints.h"
#include "record/perf/privileges.h"
#include "record/perf/sources.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

/* Targets of the links in /proc/PID/ns for the initial namespaces, whose inode numbers are fixed
 * (include/linux/proc_ns.h). */
#define FIRST_PID_NS "pid:[4026531836]"
#define FIRST_USER_NS "user:[4026531837]"

static struct str hintfacts_read_file(const char *path, char *buf, size_t n)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, buf, n);

	if (fd >= 0)
		close(fd);
	return str_trim((struct str){ buf, got > 0 ? (size_t)got : 0 });
}

static int64_t hintfacts_number(struct str string)
{
	bool negative = string.n && string.p[0] == '-';
	uint64_t value;

	string = str_trim(str_cut(&string, '\n'));
	if (!str_u64(negative ? str_from(string, 1) : string, &value) || value > INT64_MAX)
		return HINT_UNKNOWN;
	return negative ? -(int64_t)value : (int64_t)value;
}

static int64_t sysctl_of(const char *path)
{
	char buf[64];

	return hintfacts_number(hintfacts_read_file(path, buf, sizeof(buf)));
}

/* Returns the value of the line "key:\tvalue" in the text of /proc/PID/status; empty if no line has this key. */
static struct str hintfacts_field(struct str status, const char *key)
{
	while (status.n) {
		struct str line = str_cut(&status, '\n');

		if (str_eq(str_cut(&line, ':'), str_of(key)))
			return str_trim(line);
	}
	return (struct str){ 0 };
}

static int is_ns_other(const char *link, const char *first)
{
	char buf[64];
	ssize_t got = readlink(link, buf, sizeof(buf));

	return got <= 0 ? HINT_UNKNOWN : !str_eq((struct str){ buf, (size_t)got }, str_of(first));
}

/* Returns 1 if this process runs in a container, else 0. Marker files such as /.dockerenv are a proof only if the root
 * file system is an overlay, because virtual machines made from container images have these files, too. */
static int in_container(const struct hint_facts *facts)
{
	static const char *const sign[] = { "/.dockerenv", "/run/.containerenv", "/run/secrets/kubernetes.io" };
	struct statfs filesystem;

	if (facts->pid_ns == 1 || facts->user_ns == 1 || getenv("container") || getenv("KUBERNETES_SERVICE_HOST"))
		return 1;
	if (statfs("/", &filesystem) < 0 || filesystem.f_type != OVERLAYFS_SUPER_MAGIC)
		return 0;
	for (size_t i = 0; i < countof(sign); i++)
		if (access(sign[i], F_OK) == 0)
			return 1;
	return 0;
}

/* Returns the level of kernel lockdown (0, 1 or 2) from a file such as "[none] integrity confidentiality"; HINT_UNKNOWN
 * if the file cannot be read. */
static int hintfacts_lockdown(void)
{
	static const char *const level[] = { "[none]", "[integrity]", "[confidentiality]" };
	char buf[200];
	struct str string = hintfacts_read_file("/sys/kernel/security/lockdown", buf, sizeof(buf));

	for (size_t i = 0; i < countof(level); i++)
		if (str_find_str(string, str_of(level[i])) >= 0)
			return (int)i;
	return HINT_UNKNOWN;
}

static int64_t hintfacts_limit(rlim_t value)
{
	return value == RLIM_INFINITY ? -1 : (int64_t)value;
}

void hint_gather(struct hint_facts *facts)
{
	char buf[8192];
	struct str status = hintfacts_read_file("/proc/self/status", buf, sizeof(buf));
	struct rlimit limit;
	ssize_t got;

	*facts = (struct hint_facts){ .memlock = HINT_UNKNOWN, .files_soft = HINT_UNKNOWN, .files_hard = HINT_UNKNOWN };
	facts->paranoid = (int)sysctl_of("/proc/sys/kernel/perf_event_paranoid");
	facts->kptr_restrict = (int)sysctl_of("/proc/sys/kernel/kptr_restrict");
	facts->yama = (int)sysctl_of("/proc/sys/kernel/yama/ptrace_scope");
	facts->max_sample_rate = sysctl_of("/proc/sys/kernel/perf_event_max_sample_rate");
	facts->mlock_kb = sysctl_of("/proc/sys/kernel/perf_event_mlock_kb");
	facts->seccomp = (int)hintfacts_number(hintfacts_field(status, "Seccomp"));
	facts->no_new_privs = (int)hintfacts_number(hintfacts_field(status, "NoNewPrivs"));
	str_hex(hintfacts_field(status, "CapEff"), &facts->cap_effective);
	str_hex(hintfacts_field(status, "CapBnd"), &facts->cap_bounding);
	facts->lockdown = hintfacts_lockdown();
	facts->user_ns = is_ns_other("/proc/self/ns/user", FIRST_USER_NS);
	facts->pid_ns = is_ns_other("/proc/self/ns/pid", FIRST_PID_NS);
	facts->container = in_container(facts);
	/* INVOCATION_ID alone does not prove a unit: shells of a desktop inherit it, but have no NoNewPrivileges= */
	facts->unit = facts->no_new_privs == 1 && getenv("INVOCATION_ID");
	facts->tracefs = access("/sys/kernel/tracing/events", F_OK) == 0 ||
			 access("/sys/kernel/tracing/README", F_OK) == 0 ||
			 access("/sys/kernel/debug/tracing/events", F_OK) == 0;
	facts->cgroup2 = access("/sys/fs/cgroup/perf_event", F_OK) == 0 ?
				 0 :
			 access("/sys/fs/cgroup/unified/cgroup.controllers", F_OK) == 0 ?
				 2 :
				 access("/sys/fs/cgroup/cgroup.controllers", F_OK) == 0;
	facts->cpus = sysconf(_SC_NPROCESSORS_ONLN);
	facts->uid = geteuid();
	facts->old_kernel = prctl(PR_CAPBSET_READ, PRIV_PERFMON, 0, 0, 0) < 0;
	if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0)
		facts->memlock = hintfacts_limit(limit.rlim_cur);
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		facts->files_soft = hintfacts_limit(limit.rlim_cur);
		facts->files_hard = hintfacts_limit(limit.rlim_max);
	}
	got = readlink("/proc/self/exe", facts->program, sizeof(facts->program) - 1);
	facts->program[got > 0 ? got : 0] = 0;
}

int64_t hint_owner(pid_t pid)
{
	char path[40];
	struct stat status;

	snprintf(path, sizeof(path), "/proc/%ld", (long)pid);
	return stat(path, &status) == 0 ? (int64_t)status.st_uid : -1;
}

/* Reads the first lines of /proc/kallsyms. One address other than 0 proves that symbols are not hidden, because the
 * kernel hides all addresses or none. */
bool hint_kallsyms(struct hint *hint)
{
	int fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
	char buf[16384];
	ssize_t got = fd < 0 ? -1 : read(fd, buf, sizeof(buf));
	struct str string = { buf, got > 0 ? (size_t)got : 0 };
	uint64_t address = 0;

	hint->step = HINT_KALLSYMS;
	hint->error = got < 0 ? errno : 0;
	if (fd >= 0)
		close(fd);
	while (string.n && !address) {
		struct str row = str_cut(&string, '\n');

		if (!str_hex(str_cut(&row, ' '), &address))
			address = 0;
	}
	return !address;
}

void hint_failure(struct hint *hint, const struct sources_failure *why)
{
	static const enum hint_step step[] = { [SOURCES_OPEN] = HINT_OPEN,
					       [SOURCES_MAP] = HINT_RING,
					       [SOURCES_CGROUP] = HINT_CGROUP,
					       [SOURCES_PROCESS] = HINT_PROC };
	bool process = why->target == TARGET_THREADS || why->target == TARGET_COMMAND || why->step == SOURCES_PROCESS;

	*hint = (struct hint){ .step = why->error == EMFILE || why->error == ENFILE ? HINT_FILES : step[why->step],
			       .error = why->error,
			       .attr = why->step == SOURCES_OPEN || why->step == SOURCES_MAP ? &why->attr : NULL,
			       .name = why->what,
			       .cpu_wide = !process,
			       .pid = process ? (pid_t)why->pid : 0,
			       .ring_bytes = why->step == SOURCES_MAP ? why->needed : 0,
			       .needed = why->step == SOURCES_OPEN ? why->needed : 0 };
	hint->owner = hint_owner(hint->pid ? hint->pid : getpid());
	hint_gather(&hint->facts);
}
