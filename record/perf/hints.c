/* SPDX-License-Identifier: Apache-2.0 */
#include "record/perf/hints.h"

#include "record/perf/privileges.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#define MORE_CAPS "cap_ipc_lock,cap_syslog,cap_sys_ptrace,cap_dac_read_search,cap_sys_nice"
#define CAPS "cap_perfmon," MORE_CAPS
#define OLD_CAPS "cap_sys_admin," MORE_CAPS

#define NOT_SUPPORTED 524 /* ENOTSUPP of the kernel, which libc does not define */

bool hint_no_pmu(int error)
{
	return error == ENOENT || error == ENODEV || error == ENXIO || error == EOPNOTSUPP;
}

/* ---- remedies ------------------------------------------------------------------------------------------------ */

static bool hints_has(uint64_t caps, unsigned cap)
{
	return caps >> cap & 1;
}

static bool hints_perfmon(const struct hint_facts *facts)
{
	return hints_has(facts->cap_effective, PRIV_PERFMON) || hints_has(facts->cap_effective, PRIV_SYS_ADMIN);
}

static const char *perfmon_name(const struct hint_facts *facts)
{
	return facts->old_kernel ? "CAP_SYS_ADMIN" : "CAP_PERFMON";
}

/* Appends a name such as "cap_perfmon" in upper case, the form in containers and manuals. */
static void put_upper(struct text *text, const char *string)
{
	for (; *string; string++)
		text_char(text, *string >= 'a' && *string <= 'z' ? (char)(*string - 32) : *string);
}

void hint_capability(struct text *text, const struct hint_facts *facts, const char *cap)
{
	if (facts->user_ns == 1) {
		text_add(text,
			 "capabilities of a user namespace (a rootless container) do not count here: run it outside");
	} else if (facts->container == 1) {
		text_add(text, "start the container with --cap-add=");
		put_upper(text, cap + 4);
		text_add(text, " (Kubernetes: securityContext.capabilities.add: [");
		put_upper(text, cap + 4);
		text_add(text, "])");
	} else if (facts->uid == 0) {
		text_add(text, "root has lost ");
		put_upper(text, cap);
		text_add(text, " here: allow it (systemd: CapabilityBoundingSet=)");
	} else if (facts->unit == 1) {
		text_add(text, "add ");
		put_upper(text, cap);
		text_add(text, " to AmbientCapabilities= and CapabilityBoundingSet= of its unit");
	} else {
		text_add(text, "run it as root");
		if (facts->no_new_privs != 1)
			text_printf(text, ", or: sudo setcap %s=ep %s", facts->old_kernel ? OLD_CAPS : CAPS,
				    facts->program[0] ? facts->program : "PATH/pjrecord");
	}
}

/* Appends the remedy for a missing capability that is not in the setcap command of hint_capability. */
static void put_rare_capability(struct text *text, const struct hint_facts *facts, const char *cap)
{
	if (facts->uid != 0 && facts->unit != 1 && facts->container != 1 && facts->user_ns != 1)
		text_add(text, "run it as root");
	else
		hint_capability(text, facts, cap);
}

static void put_sysctl(struct text *text, const struct hint_facts *facts, const char *setting)
{
	text_printf(text,
		    facts->container == 1 || facts->user_ns == 1 ? ", or on the host: sudo sysctl %s" :
								   ", or: sudo sysctl %s",
		    setting);
}

/* Appends the remedy for missing permission: the way to get CAP_PERFMON, or the command that sets
 * kernel.perf_event_paranoid to `level`. */
static void put_perfmon(struct text *text, const struct hint_facts *facts, int level)
{
	char setting[60];

	snprintf(setting, sizeof(setting), "kernel.perf_event_paranoid=%d", level);
	text_add(text, ": ");
	if (facts->user_ns == 1 && facts->seccomp != 2)
		text_printf(
			text,
			"capabilities of a user namespace (a rootless container) do not count: on the host: sudo sysctl %s",
			setting);
	else {
		hint_capability(text, facts, facts->old_kernel ? "cap_sys_admin" : "cap_perfmon");
		put_sysctl(text, facts, setting);
	}
}

static void put_now(struct text *text, const char *what, int64_t value)
{
	if (value != HINT_UNKNOWN)
		text_printf(text, "%s (now %" PRId64 ")", what, value);
	else
		text_add(text, what);
}

static void put_error(struct text *text, const char *what, int error)
{
	text_printf(text, "%s: %s", what, strerror(error));
}

/* ---- failures of perf_event_open ----------------------------------------------------------------------------- */

static bool is_tracepoint(const struct hint *hint)
{
	return hint->attr && hint->attr->type == PERF_TYPE_TRACEPOINT;
}

/* Returns true if the event is a uprobe: uprobes are the only events with a dynamic PMU type that pjrecord opens. */
static bool is_uprobe(const struct hint *hint)
{
	return hint->attr && hint->attr->type >= PERF_TYPE_MAX;
}

static const char *event_name(const struct hint *hint)
{
	return hint->name ? hint->name : "this event";
}

/* Appends "-e cpu-clock", the event that needs no hardware, with the modifiers u and k of the event that failed. */
static void put_clock(struct text *text, const struct hint *hint)
{
	struct str modifiers = str_of(event_name(hint));

	text_add(text, "-e cpu-clock");
	if (is_tracepoint(hint))
		return;
	str_cut(&modifiers, ':');
	for (size_t i = 0, put = 0; i < modifiers.n; i++)
		if (modifiers.p[i] == 'u' || modifiers.p[i] == 'k')
			text_printf(text, put++ ? "%c" : ":%c", modifiers.p[i]);
}

static void hints_filtered(struct text *text, const struct hint *hint)
{
	const struct hint_facts *facts = &hint->facts;
	bool allowed = hints_perfmon(facts);

	text_printf(text,
		    "a seccomp filter forbids perf_event_open (%s): ", hint->error == ENOSYS ? "ENOSYS" : "EPERM");
	if (facts->container != 1)
		text_add(text, "run it outside of the sandbox (systemd: SystemCallFilter=perf_event_open)");
	else if (allowed || facts->user_ns == 1)
		text_add(text,
			 "start the container with --security-opt seccomp=unconfined, or a profile that allows it "
			 "(Kubernetes: seccompProfile)");
	else
		text_add(
			text,
			"start the container with --cap-add=PERFMON, with which Docker's filter allows it (Kubernetes: "
			"securityContext.capabilities.add: [PERFMON]), or --security-opt seccomp=unconfined");
}

static void not_there(struct text *text, const struct hint *hint)
{
	if (hint->facts.seccomp == 2 && hint->facts.paranoid != HINT_UNKNOWN)
		hints_filtered(text, hint);
	else
		text_add(text,
			 "this host has no perf events: the kernel lacks CONFIG_PERF_EVENTS, or a sandbox (gVisor) "
			 "hides them: run it on the host");
}

static void by_module(struct text *text, const struct hint *hint)
{
	text_printf(
		text,
		"a security module (SELinux, AppArmor) refuses perf_event_open, though %s: look for 'denied' in: sudo "
		"journalctl -k -g denied",
		hints_perfmon(&hint->facts) ? "the capability is there" : "kernel.perf_event_paranoid allows it");
}

/* Explains kernel.perf_event_paranoid >= 3, a level that exists only with patches of distributions: Debian's kernel
 * then accepts only CAP_SYS_ADMIN. */
static void by_distribution(struct text *text, const struct hint_facts *facts)
{
	text_printf(text,
		    "kernel.perf_event_paranoid is %d, at which this kernel (Debian's) requires CAP_SYS_ADMIN "
		    "instead of CAP_PERFMON",
		    facts->paranoid);
	put_sysctl(text, facts, "kernel.perf_event_paranoid=2");
}

static void no_permission(struct text *text, const struct hint *hint)
{
	const struct hint_facts *facts = &hint->facts;
	int level = facts->paranoid;
	bool other = hint->pid && hint->owner >= 0 && (uid_t)hint->owner != facts->uid;

	if (is_uprobe(hint) && (!hints_has(facts->cap_effective, PRIV_SYS_ADMIN) || facts->user_ns == 1)) {
		/* Linux 6.16 requires CAP_SYS_ADMIN, and so do stable kernels since July 2025
		 * (CVE-2025-38466: 5.10.240, 5.15.189, 6.1.146, 6.6.99, 6.12.39, 6.15.7). Older kernels accept
		 * CAP_PERFMON; the message does not distinguish them. */
		text_add(text, "uprobes need CAP_SYS_ADMIN: ");
		put_rare_capability(text, facts, "cap_sys_admin");
	} else if (hints_perfmon(facts) && facts->user_ns != 1 &&
		   (!other || hints_has(facts->cap_effective, PRIV_SYS_PTRACE))) {
		if (level != HINT_UNKNOWN && level >= 3 && !hints_has(facts->cap_effective, PRIV_SYS_ADMIN))
			by_distribution(text, facts);
		else
			by_module(text, hint);
	} else if (level != HINT_UNKNOWN && level >= 3) {
		text_printf(text, "kernel.perf_event_paranoid is %d, at which recording needs %s", level,
			    perfmon_name(facts));
		put_perfmon(text, facts, hint->cpu_wide ? 0 : 1);
	} else if (other) {
		text_printf(text, "process %ld belongs to user %" PRId64 ", which needs CAP_SYS_PTRACE and %s: ",
			    (long)hint->pid, hint->owner, perfmon_name(facts));
		hint_capability(text, facts, "cap_sys_ptrace");
	} else if (hint->cpu_wide && (level == HINT_UNKNOWN || level > 0)) {
		text_printf(text, "recording all threads of a CPU needs %s, or kernel.perf_event_paranoid ",
			    perfmon_name(facts));
		put_now(text, "<= 0", level);
		put_perfmon(text, facts, 0);
	} else if (hint->attr && !hint->attr->exclude_kernel && (level == HINT_UNKNOWN || level > 1)) {
		text_printf(text, "kernel stacks need %s, or kernel.perf_event_paranoid ", perfmon_name(facts));
		put_now(text, "<= 1", level);
		put_perfmon(text, facts, 1);
	} else {
		by_module(text, hint);
	}
}

static void not_permitted(struct text *text, const struct hint *hint)
{
	const struct hint_facts *facts = &hint->facts;

	if (is_tracepoint(hint) && !hints_perfmon(facts) && (facts->paranoid == HINT_UNKNOWN || facts->paranoid > -1)) {
		text_printf(text, "tracepoints need %s, or kernel.perf_event_paranoid ", perfmon_name(facts));
		put_now(text, "= -1", facts->paranoid);
		put_perfmon(text, facts, -1);
	} else if (facts->seccomp == 2) {
		hints_filtered(text, hint);
	} else if (facts->paranoid != HINT_UNKNOWN && facts->paranoid >= 3 && !hints_perfmon(facts)) {
		no_permission(text, hint);
	} else {
		by_module(text, hint);
	}
}

static void not_valid(struct text *text, const struct hint *hint)
{
	const struct perf_event_attr *attr = hint->attr;
	int64_t max = hint->facts.max_sample_rate;

	if (attr && attr->freq && max > 0 && attr->sample_freq > (uint64_t)max) {
		text_printf(text,
			    "%" PRIu64
			    " samples a second are more than kernel.perf_event_max_sample_rate allows (now %" PRId64
			    "): -F %" PRId64 ", or: sudo sysctl kernel.perf_event_max_sample_rate=%" PRIu64,
			    (uint64_t)attr->sample_freq, max, max, (uint64_t)attr->sample_freq);
	} else {
		text_printf(text,
			    "this kernel or CPU does not support '%s' with these options (EINVAL): choose another "
			    "event, such as ",
			    event_name(hint));
		put_clock(text, hint);
	}
}

/* Appends the reason for which the kernel refuses a uprobe. Returns false if the error is not due to the location of
 * the breakpoint. */
static bool uprobe_refused(struct text *text, const struct hint *hint)
{
	const char *name = event_name(hint);

	switch (hint->error) {
	case NOT_SUPPORTED:
	case ENOEXEC:
		text_printf(
			text,
			"the kernel cannot place a breakpoint on the first instruction of '%s': choose a function that "
			"calls it, or that it calls",
			name);
		return true;
	case EIO:
		text_printf(text,
			    "the file system of '%s' does not support breakpoints: probe a copy in a local file system",
			    name);
		return true;
	case EINVAL:
		text_printf(text, "the kernel refuses a breakpoint at '%s' (EINVAL): choose another function", name);
		return true;
	case ENOENT:
		text_printf(text, "/proc is not mounted, so the kernel does not find '%s': mount it", name);
		return true;
	default: return false;
	}
}

static void hints_gone(struct text *text, const struct hint *hint)
{
	if (hint->pid)
		text_printf(text, "no process %ld%s", (long)hint->pid,
			    hint->facts.pid_ns == 1 ?
				    ": PIDs are those of this container's PID namespace (hostPID: true, --pid=host)" :
				    ": it may have ended; see: pgrep -l NAME");
	else
		text_add(text, "the process has ended");
}

static void hints_files(struct text *text, const struct hint *hint)
{
	const struct hint_facts *facts = &hint->facts;
	uint64_t wanted = hint->needed ? hint->needed : facts->files_hard > 0 ? 4 * (uint64_t)facts->files_hard : 65536;

	if (hint->error == ENFILE) {
		text_add(text, "the system has too many open files: sudo sysctl fs.file-max=1000000");
		return;
	}
	if (hint->needed)
		text_printf(text, "%" PRIu64 " descriptors are required", hint->needed);
	else
		text_add(text, "too many descriptors are required");
	if (facts->files_hard > 0)
		text_printf(text, ", %" PRId64 " are allowed", facts->files_hard);
	text_printf(text, ": ulimit -n %" PRIu64 " (as root; systemd: LimitNOFILE=%" PRIu64 ")", wanted, wanted);
}

static void open_failed(struct text *text, const struct hint *hint)
{
	if (is_uprobe(hint) && uprobe_refused(text, hint))
		return;
	switch (hint->error) {
	case ENOSYS: not_there(text, hint); return;
	case EACCES: no_permission(text, hint); return;
	case EPERM: not_permitted(text, hint); return;
	case EINVAL:
	case E2BIG: not_valid(text, hint); return;
	case ESRCH: hints_gone(text, hint); return;
	case EMFILE:
	case ENFILE: hints_files(text, hint); return;
	case EBUSY:
		text_printf(text,
			    "the counter for '%s' is in use (by the NMI watchdog, another profiler): sudo sysctl "
			    "kernel.nmi_watchdog=0, or ",
			    event_name(hint));
		put_clock(text, hint);
		return;
	case EBADF:
		text_printf(text, "'%s' is not a cgroup of perf's hierarchy: see: cat /proc/PID/cgroup",
			    hint->name ? hint->name : "that directory");
		return;
	default: break;
	}
	if (hint_no_pmu(hint->error) && is_tracepoint(hint)) {
		text_printf(text, "no tracepoint '%s'", event_name(hint));
	} else if (hint_no_pmu(hint->error)) {
		text_printf(text, "no hardware counter for '%s' (a virtual machine without a PMU): use ",
			    event_name(hint));
		put_clock(text, hint);
	} else {
		put_error(text, "perf_event_open", hint->error);
	}
}

/* ---- failures of rings, files and other steps ---------------------------------------------------------------- */

static void ring_failed(struct text *text, const struct hint *hint)
{
	const struct hint_facts *facts = &hint->facts;
	uint64_t kb = (hint->ring_bytes + 1023) / 1024;

	if (hint->error == EMFILE || hint->error == ENFILE) {
		hints_files(text, hint);
	} else if (hint->error == EPERM || hint->error == EAGAIN) {
		text_printf(text, "rings of %" PRIu64 " kB", kb);
		if (facts->cpus > 0)
			text_printf(text, " for %" PRId64 " CPUs", facts->cpus);
		text_add(text, " are more locked memory than kernel.perf_event_mlock_kb");
		if (facts->mlock_kb >= 0)
			text_printf(text, " (now %" PRId64 " for each CPU and user)", facts->mlock_kb);
		if (facts->memlock >= 0)
			text_printf(text, " and ulimit -l (now %" PRId64 " kB) allow", facts->memlock / 1024);
		else
			text_add(text, " allows");
		text_printf(text, ": %ssudo sysctl kernel.perf_event_mlock_kb=%" PRIu64 ", or CAP_IPC_LOCK: ",
			    hint->no_less ? "" : "a smaller --ring-size, or: ", kb);
		hint_capability(text, facts, "cap_ipc_lock");
	} else if (hint->error == ENOMEM) {
		text_printf(text, "no memory for a ring of %" PRIu64 " kB%s", kb,
			    hint->no_less ? "" : ": a smaller --ring-size");
	} else {
		put_error(text, "cannot map a ring", hint->error);
	}
}

static void tracefs_failed(struct text *text, const struct hint *hint)
{
	const struct hint_facts *facts = &hint->facts;
	const char *name = hint->name ? hint->name : "";
	int got = (int)strcspn(name, ":");

	if (hint->error == EPERM && facts->lockdown == 2) {
		text_add(
			text,
			"the kernel is locked down (confidentiality), which forbids tracepoints: boot without lockdown=confidentiality");
	} else if (hint->error == EACCES || hint->error == EPERM) {
		text_printf(text,
			    "reading the format of '%s' needs CAP_DAC_READ_SEARCH, or a mode that allows it: ", name);
		hint_capability(text, facts, "cap_dac_read_search");
		text_printf(text, ", or%s: sudo mount -o remount,mode=755 /sys/kernel/tracing",
			    facts->container == 1 ? " on the host" : "");
	} else if (hint->error == ENOENT && facts->tracefs != 1) {
		text_add(text, "tracefs is not mounted: sudo mount -t tracefs none /sys/kernel/tracing");
		if (facts->container == 1)
			text_add(text, " (in a container: -v /sys/kernel/tracing:/sys/kernel/tracing:ro)");
	} else if (hint->error == ENOENT) {
		text_printf(text, "no tracepoint '%s': see: sudo ls /sys/kernel/tracing/events/%.*s", name,
			    name[got] ? got : 0, name);
	} else {
		text_printf(text, "tracepoint '%s'", name);
		put_error(text, "", hint->error);
	}
}

static void proc_failed(struct text *text, const struct hint *hint)
{
	if (hint->error == ENOENT || hint->error == ESRCH || hint->owner < 0) {
		hints_gone(text, hint);
	} else if (hint->error == EACCES || hint->error == EPERM) {
		text_printf(text,
			    "process %ld belongs to user %" PRId64 ", whose memory map only CAP_SYS_PTRACE shows: ",
			    (long)hint->pid, hint->owner);
		hint_capability(text, &hint->facts, "cap_sys_ptrace");
	} else {
		text_printf(text, "/proc/%ld", (long)hint->pid);
		put_error(text, "", hint->error);
	}
}

static void cgroup_failed(struct text *text, const struct hint *hint)
{
	const char *name = hint->name ? hint->name : "";
	static const char *const roots[] = { "/sys/fs/cgroup/perf_event", "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };
	const char *root = roots[hint->facts.cgroup2 > 0 && hint->facts.cgroup2 < 3 ? hint->facts.cgroup2 : 0];

	size_t n = strlen(root);
	const char *below = strncmp(name, root, n) == 0 && name[n] == '/' && name[n + 1] ? name + n + 1 : name;

	if (hint->error == ENOENT || hint->error == ENOTDIR)
		text_printf(text, "there is no cgroup '%s' below %s: cat /proc/PID/cgroup prints those of a process",
			    below, root);
	else if (hint->error == EACCES || hint->error == EPERM)
		text_printf(text, "cgroup '%s' may not be read: run it as root", name);
	else if (hint->error == EBADF || hint->error == EINVAL)
		text_printf(text, "'%s' is not a cgroup of perf's hierarchy, which is below %s", name, root);
	else {
		text_printf(text, "cgroup '%s'", name);
		put_error(text, "", hint->error);
	}
}

static void kallsyms_failed(struct text *text, const struct hint *hint)
{
	const struct hint_facts *facts = &hint->facts;

	if (facts->kptr_restrict != HINT_UNKNOWN && facts->kptr_restrict >= 2) {
		text_printf(text,
			    "kernel.kptr_restrict is %d, which hides kernel symbols from all users: sudo sysctl "
			    "kernel.kptr_restrict=1",
			    facts->kptr_restrict);
	} else if (!hints_has(facts->cap_effective, PRIV_SYSLOG) || facts->user_ns == 1) {
		text_add(text, "kernel symbols are hidden without CAP_SYSLOG: ");
		hint_capability(text, facts, "cap_syslog");
		if (facts->user_ns == 1)
			return;
		put_sysctl(text, facts,
			   facts->kptr_restrict == 1 ? "kernel.kptr_restrict=0 kernel.perf_event_paranoid=1" :
						       "kernel.perf_event_paranoid=1");
	} else if (hint->error) {
		put_error(text, "/proc/kallsyms", hint->error);
	} else {
		text_add(text,
			 "this host has no kernel symbols: the kernel lacks CONFIG_KALLSYMS, or a sandbox hides them");
	}
}

static void realtime_failed(struct text *text, const struct hint *hint)
{
	const struct hint_facts *facts = &hint->facts;

	if (!hints_has(facts->cap_effective, PRIV_SYS_NICE) || facts->user_ns == 1) {
		text_add(text, "real-time priority needs CAP_SYS_NICE: ");
		hint_capability(text, facts, "cap_sys_nice");
	} else if (hint->error != ENOSYS) {
		text_add(
			text,
			"the kernel refuses real-time priority, though CAP_SYS_NICE is there: allow it with sysctl "
			"kernel.sched_rt_runtime_us, or cpu.rt_runtime_us of the cgroup (docker run --cpu-rt-runtime)");
	} else if (facts->container == 1) {
		text_add(text,
			 "a seccomp filter forbids real-time priority: start the container with a profile that allows "
			 "sched_setscheduler");
	} else {
		text_add(text, "a seccomp filter forbids real-time priority: set RestrictRealtime=no in its unit, and "
			       "SystemCallFilter=sched_setscheduler");
	}
}

static void memory_failed(struct text *text, const struct hint *hint)
{
	const struct hint_facts *facts = &hint->facts;

	if (facts->yama != HINT_UNKNOWN && facts->yama >= 3) {
		text_printf(
			text,
			"kernel.yama.ptrace_scope is %d, at which no process may read the memory of another one: set "
			"it to 2 in /etc/sysctl.d and boot again",
			facts->yama);
	} else if (!hints_has(facts->cap_effective, PRIV_SYS_PTRACE) || facts->user_ns == 1) {
		text_add(text, "reading the memory of other processes needs CAP_SYS_PTRACE");
		if (facts->yama != HINT_UNKNOWN && facts->yama > 0)
			text_printf(text, ", or kernel.yama.ptrace_scope 0 (now %d)", facts->yama);
		text_add(text, ": ");
		hint_capability(text, facts, "cap_sys_ptrace");
	} else if (hint->error == EACCES || hint->error == EPERM) {
		text_add(
			text,
			"a security module (SELinux, AppArmor) forbids to read the memory of other processes: look for "
			"'denied' in: sudo journalctl -k -g denied");
	} else {
		put_error(text, "/proc/PID/mem", hint->error);
	}
}

void hint_text(struct text *text, const struct hint *hint)
{
	switch (hint->step) {
	case HINT_OPEN: open_failed(text, hint); break;
	case HINT_RING: ring_failed(text, hint); break;
	case HINT_FILES: hints_files(text, hint); break;
	case HINT_TRACEFS: tracefs_failed(text, hint); break;
	case HINT_PROC: proc_failed(text, hint); break;
	case HINT_CGROUP: cgroup_failed(text, hint); break;
	case HINT_KALLSYMS: kallsyms_failed(text, hint); break;
	case HINT_REALTIME: realtime_failed(text, hint); break;
	case HINT_MEMORY: memory_failed(text, hint); break;
	}
}
