/* SPDX-License-Identifier: Apache-2.0 */
#include "record/perf/hints.h"

#include "record/perf/privileges.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#define CAPS "cap_perfmon,cap_ipc_lock,cap_syslog,cap_sys_ptrace,cap_dac_read_search"
#define OLD_CAPS "cap_sys_admin,cap_ipc_lock,cap_syslog,cap_sys_ptrace,cap_dac_read_search"

bool hint_no_pmu(int error)
{
	return error == ENOENT || error == ENODEV || error == ENXIO || error == EOPNOTSUPP;
}

/* ---- remedies ------------------------------------------------------------------------------------------------ */

static bool hints_has(uint64_t caps, unsigned cap)
{
	return caps >> cap & 1;
}

static bool hints_perfmon(const struct hint_facts *f)
{
	return hints_has(f->cap_effective, PRIV_PERFMON) || hints_has(f->cap_effective, PRIV_SYS_ADMIN);
}

static const char *perfmon_name(const struct hint_facts *f)
{
	return f->old_kernel ? "CAP_SYS_ADMIN" : "CAP_PERFMON";
}

/* "cap_perfmon" as containers and manuals write it */
static void put_upper(struct text *t, const char *s)
{
	for (; *s; s++)
		text_char(t, *s >= 'a' && *s <= 'z' ? (char)(*s - 32) : *s);
}

void hint_capability(struct text *t, const struct hint_facts *f, const char *cap)
{
	if (f->user_ns == 1) {
		text_add(t,
			 "capabilities of a user namespace (a rootless container) do not count here: run it outside");
	} else if (f->container == 1) {
		text_add(t, "start the container with --cap-add=");
		put_upper(t, cap + 4);
		text_add(t, " (Kubernetes: securityContext.capabilities.add: [");
		put_upper(t, cap + 4);
		text_add(t, "])");
	} else if (f->uid == 0) {
		text_add(t, "root has lost ");
		put_upper(t, cap);
		text_add(t, " here (systemd: CapabilityBoundingSet=): do not take it away");
	} else {
		text_add(t, "run it as root");
		if (f->no_new_privs != 1)
			text_printf(t, ", or: sudo setcap %s=ep %s", f->old_kernel ? OLD_CAPS : CAPS,
				    f->program[0] ? f->program : "PATH/pjrecord");
	}
}

static void put_sysctl(struct text *t, const struct hint_facts *f, const char *setting)
{
	text_printf(t,
		    f->container == 1 || f->user_ns == 1 ? ", or on the host: sudo sysctl %s" : ", or: sudo sysctl %s",
		    setting);
}

/* CAP_PERFMON, or a lower kernel.perf_event_paranoid. */
static void put_perfmon(struct text *t, const struct hint_facts *f, int level)
{
	char setting[60];

	snprintf(setting, sizeof(setting), "kernel.perf_event_paranoid=%d", level);
	text_add(t, ": ");
	if (f->user_ns == 1 && f->seccomp != 2)
		text_printf(
			t,
			"capabilities of a user namespace (a rootless container) do not count: on the host: sudo sysctl %s",
			setting);
	else {
		hint_capability(t, f, f->old_kernel ? "cap_sys_admin" : "cap_perfmon");
		put_sysctl(t, f, setting);
	}
}

static void put_now(struct text *t, const char *what, int64_t value)
{
	if (value != HINT_UNKNOWN)
		text_printf(t, "%s (now %" PRId64 ")", what, value);
	else
		text_add(t, what);
}

static void put_error(struct text *t, const char *what, int error)
{
	text_printf(t, "%s: %s", what, strerror(error));
}

/* ---- perf_event_open ----------------------------------------------------------------------------------------- */

static bool is_tracepoint(const struct hint *h)
{
	return h->attr && h->attr->type == PERF_TYPE_TRACEPOINT;
}

static const char *event_name(const struct hint *h)
{
	return h->name ? h->name : "this event";
}

static void hints_filtered(struct text *t, const struct hint *h)
{
	const struct hint_facts *f = &h->facts;
	bool allowed = hints_perfmon(f);

	text_printf(t, "a seccomp filter forbids perf_event_open (%s): ", h->error == ENOSYS ? "ENOSYS" : "EPERM");
	if (f->container != 1)
		text_add(t, "run it outside of the sandbox (systemd: SystemCallFilter=perf_event_open)");
	else if (allowed || f->user_ns == 1)
		text_add(t, "start the container with --security-opt seccomp=unconfined, or a profile that allows it "
			    "(Kubernetes: seccompProfile)");
	else
		text_add(
			t,
			"start the container with --cap-add=PERFMON, with which Docker's filter allows it (Kubernetes: "
			"securityContext.capabilities.add: [PERFMON]), or --security-opt seccomp=unconfined");
}

static void not_there(struct text *t, const struct hint *h)
{
	if (h->facts.seccomp == 2 && h->facts.paranoid != HINT_UNKNOWN)
		hints_filtered(t, h);
	else
		text_add(
			t,
			"there are no perf events here: a kernel without CONFIG_PERF_EVENTS, or a sandbox (gVisor) that "
			"hides them: run it on the host");
}

static void by_module(struct text *t, const struct hint *h)
{
	text_printf(
		t,
		"a security module (SELinux, AppArmor) refuses perf_event_open, though %s: look for 'denied' in: sudo "
		"journalctl -k -g denied",
		hints_perfmon(&h->facts) ? "the capability is there" : "kernel.perf_event_paranoid allows it");
}

/* The level 3 is a patch of distributions; Debian's accepts CAP_SYS_ADMIN only. */
static void by_distribution(struct text *t, const struct hint_facts *f)
{
	text_printf(
		t,
		"kernel.perf_event_paranoid is %d, with which this kernel (Debian's) wants CAP_SYS_ADMIN instead of CAP_PERFMON",
		f->paranoid);
	put_sysctl(t, f, "kernel.perf_event_paranoid=2");
}

static void no_permission(struct text *t, const struct hint *h)
{
	const struct hint_facts *f = &h->facts;
	int level = f->paranoid;
	bool other = h->pid && h->owner >= 0 && (uid_t)h->owner != f->uid;

	if (hints_perfmon(f) && f->user_ns != 1 && (!other || hints_has(f->cap_effective, PRIV_SYS_PTRACE))) {
		if (level != HINT_UNKNOWN && level >= 3 && !hints_has(f->cap_effective, PRIV_SYS_ADMIN))
			by_distribution(t, f);
		else
			by_module(t, h);
	} else if (level != HINT_UNKNOWN && level >= 3) {
		text_printf(t, "kernel.perf_event_paranoid is %d, with which nobody records without %s", level,
			    perfmon_name(f));
		put_perfmon(t, f, h->cpu_wide ? 0 : 1);
	} else if (other) {
		text_printf(t, "process %ld belongs to user %" PRId64 ", which needs CAP_SYS_PTRACE and %s: ",
			    (long)h->pid, h->owner, perfmon_name(f));
		hint_capability(t, f, "cap_sys_ptrace");
	} else if (h->cpu_wide && (level == HINT_UNKNOWN || level > 0)) {
		text_printf(t, "recording all that runs on a CPU needs %s, or kernel.perf_event_paranoid ",
			    perfmon_name(f));
		put_now(t, "<= 0", level);
		put_perfmon(t, f, 0);
	} else if (h->attr && !h->attr->exclude_kernel && (level == HINT_UNKNOWN || level > 1)) {
		text_printf(t, "the kernel's part of stacks needs %s, or kernel.perf_event_paranoid ", perfmon_name(f));
		put_now(t, "<= 1", level);
		put_perfmon(t, f, 1);
	} else {
		by_module(t, h);
	}
}

static void not_permitted(struct text *t, const struct hint *h)
{
	const struct hint_facts *f = &h->facts;

	if (is_tracepoint(h) && !hints_perfmon(f) && (f->paranoid == HINT_UNKNOWN || f->paranoid > -1)) {
		text_printf(t, "tracepoints need %s, or kernel.perf_event_paranoid ", perfmon_name(f));
		put_now(t, "= -1", f->paranoid);
		put_perfmon(t, f, -1);
	} else if (f->seccomp == 2) {
		hints_filtered(t, h);
	} else if (f->paranoid != HINT_UNKNOWN && f->paranoid >= 3 && !hints_perfmon(f)) {
		no_permission(t, h);
	} else {
		by_module(t, h);
	}
}

static void not_valid(struct text *t, const struct hint *h)
{
	const struct perf_event_attr *a = h->attr;
	int64_t max = h->facts.max_sample_rate;

	if (a && a->freq && max > 0 && a->sample_freq > (uint64_t)max)
		text_printf(t,
			    "%" PRIu64
			    " samples a second are more than kernel.perf_event_max_sample_rate allows (now %" PRId64
			    "): -F %" PRId64 ", or: sudo sysctl kernel.perf_event_max_sample_rate=%" PRIu64,
			    (uint64_t)a->sample_freq, max, max, (uint64_t)a->sample_freq);
	else
		text_printf(
			t,
			"this kernel or CPU does not know '%s' as it is asked for (EINVAL): another event, as -e cpu-clock",
			event_name(h));
}

static void hints_gone(struct text *t, const struct hint *h)
{
	if (h->pid)
		text_printf(
			t, "there is no process %ld%s", (long)h->pid,
			h->facts.pid_ns == 1 ?
				": numbers are those of this container's PID namespace (hostPID: true, --pid=host)" :
				": it may have ended; see: pgrep -l NAME");
	else
		text_add(t, "the process has ended");
}

static void hints_files(struct text *t, const struct hint *h)
{
	const struct hint_facts *f = &h->facts;
	uint64_t wanted = h->needed ? h->needed : f->files_hard > 0 ? 4 * (uint64_t)f->files_hard : 65536;

	if (h->error == ENFILE) {
		text_add(t, "the system has too many open files: sudo sysctl fs.file-max=1000000");
		return;
	}
	if (h->needed)
		text_printf(t, "%" PRIu64 " descriptors are needed", h->needed);
	else
		text_add(t, "too many descriptors are needed");
	if (f->files_hard > 0)
		text_printf(t, ", %" PRId64 " are allowed", f->files_hard);
	text_printf(t, ": ulimit -n %" PRIu64 " (as root; systemd: LimitNOFILE=%" PRIu64 ")", wanted, wanted);
}

static void open_failed(struct text *t, const struct hint *h)
{
	switch (h->error) {
	case ENOSYS: not_there(t, h); return;
	case EACCES: no_permission(t, h); return;
	case EPERM: not_permitted(t, h); return;
	case EINVAL:
	case E2BIG: not_valid(t, h); return;
	case ESRCH: hints_gone(t, h); return;
	case EMFILE:
	case ENFILE: hints_files(t, h); return;
	case EBUSY:
		text_printf(t,
			    "somebody else has the counter for '%s' (the NMI watchdog, another profiler): sudo sysctl "
			    "kernel.nmi_watchdog=0, or -e cpu-clock",
			    event_name(h));
		return;
	case EBADF:
		text_printf(t, "'%s' is no cgroup of the hierarchy that perf events use: see: cat /proc/PID/cgroup",
			    h->name ? h->name : "that directory");
		return;
	default: break;
	}
	if (hint_no_pmu(h->error) && is_tracepoint(h))
		text_printf(t, "there is no tracepoint '%s'", event_name(h));
	else if (hint_no_pmu(h->error))
		text_printf(
			t, "there is no hardware here that counts '%s' (a virtual machine without a PMU): -e cpu-clock",
			event_name(h));
	else
		put_error(t, "perf_event_open", h->error);
}

/* ---- the other steps ----------------------------------------------------------------------------------------- */

static void ring_failed(struct text *t, const struct hint *h)
{
	const struct hint_facts *f = &h->facts;
	uint64_t kb = (h->ring_bytes + 1023) / 1024;

	if (h->error == EMFILE || h->error == ENFILE) {
		hints_files(t, h);
	} else if (h->error == EPERM || h->error == EAGAIN) {
		text_printf(t, "rings of %" PRIu64 " kB", kb);
		if (f->cpus > 0)
			text_printf(t, " for %" PRId64 " CPUs", f->cpus);
		text_add(t, " are more locked memory than kernel.perf_event_mlock_kb");
		if (f->mlock_kb >= 0)
			text_printf(t, " (now %" PRId64 " for each CPU and user)", f->mlock_kb);
		if (f->memlock >= 0)
			text_printf(t, " and ulimit -l (now %" PRId64 " kB) allow", f->memlock / 1024);
		else
			text_add(t, " allows");
		text_printf(t, ": %ssudo sysctl kernel.perf_event_mlock_kb=%" PRIu64 ", or CAP_IPC_LOCK: ",
			    h->no_less ? "" : "a smaller --ring-size, or: ", kb);
		hint_capability(t, f, "cap_ipc_lock");
	} else if (h->error == ENOMEM) {
		text_printf(t, "no memory for a ring of %" PRIu64 " kB%s", kb,
			    h->no_less ? "" : ": a smaller --ring-size");
	} else {
		put_error(t, "cannot map a ring", h->error);
	}
}

static void tracefs_failed(struct text *t, const struct hint *h)
{
	const struct hint_facts *f = &h->facts;
	const char *name = h->name ? h->name : "";
	int n = (int)strcspn(name, ":");

	if (h->error == EPERM && f->lockdown == 2) {
		text_add(
			t,
			"the kernel is locked down (confidentiality), which forbids tracepoints: boot without lockdown=confidentiality");
	} else if (h->error == EACCES || h->error == EPERM) {
		text_printf(t,
			    "reading the format of '%s' needs CAP_DAC_READ_SEARCH, or a mode that allows it: ", name);
		hint_capability(t, f, "cap_dac_read_search");
		text_printf(t, ", or%s: sudo mount -o remount,mode=755 /sys/kernel/tracing",
			    f->container == 1 ? " on the host" : "");
	} else if (h->error == ENOENT && f->tracefs != 1) {
		text_add(t, "tracefs is not mounted: sudo mount -t tracefs none /sys/kernel/tracing");
		if (f->container == 1)
			text_add(t, " (in a container: -v /sys/kernel/tracing:/sys/kernel/tracing:ro)");
	} else if (h->error == ENOENT) {
		text_printf(t, "there is no tracepoint '%s': see: sudo ls /sys/kernel/tracing/events/%.*s", name,
			    name[n] ? n : 0, name);
	} else {
		text_printf(t, "tracepoint '%s'", name);
		put_error(t, "", h->error);
	}
}

static void proc_failed(struct text *t, const struct hint *h)
{
	if (h->error == ENOENT || h->error == ESRCH || h->owner < 0) {
		hints_gone(t, h);
	} else if (h->error == EACCES || h->error == EPERM) {
		text_printf(t, "process %ld belongs to user %" PRId64 ", whose memory map only CAP_SYS_PTRACE shows: ",
			    (long)h->pid, h->owner);
		hint_capability(t, &h->facts, "cap_sys_ptrace");
	} else {
		text_printf(t, "/proc/%ld", (long)h->pid);
		put_error(t, "", h->error);
	}
}

static void cgroup_failed(struct text *t, const struct hint *h)
{
	const char *name = h->name ? h->name : "";
	static const char *const roots[] = { "/sys/fs/cgroup/perf_event", "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };
	const char *root = roots[h->facts.cgroup2 > 0 && h->facts.cgroup2 < 3 ? h->facts.cgroup2 : 0];

	if (h->error == ENOENT || h->error == ENOTDIR)
		text_printf(t, "there is no cgroup '%s': names are paths below %s, as in: cat /proc/PID/cgroup", name,
			    root);
	else if (h->error == EACCES || h->error == EPERM)
		text_printf(t, "cgroup '%s' may not be read: run it as root", name);
	else if (h->error == EBADF || h->error == EINVAL)
		text_printf(t, "'%s' is no cgroup of the hierarchy that perf events use, which lies below %s", name,
			    root);
	else {
		text_printf(t, "cgroup '%s'", name);
		put_error(t, "", h->error);
	}
}

static void kallsyms_failed(struct text *t, const struct hint *h)
{
	const struct hint_facts *f = &h->facts;

	if (f->kptr_restrict != HINT_UNKNOWN && f->kptr_restrict >= 2) {
		text_printf(
			t,
			"kernel.kptr_restrict is %d, which hides kernel symbols from everybody: sudo sysctl kernel.kptr_restrict=1",
			f->kptr_restrict);
	} else if (!hints_has(f->cap_effective, PRIV_SYSLOG) || f->user_ns == 1) {
		text_add(t, "kernel symbols are hidden without CAP_SYSLOG: ");
		hint_capability(t, f, "cap_syslog");
		if (f->user_ns == 1)
			return;
		put_sysctl(t, f,
			   f->kptr_restrict == 1 ? "kernel.kptr_restrict=0 kernel.perf_event_paranoid=1" :
						   "kernel.perf_event_paranoid=1");
	} else if (h->error) {
		put_error(t, "/proc/kallsyms", h->error);
	} else {
		text_add(
			t,
			"kernel symbols are not there: a kernel without CONFIG_KALLSYMS, or a sandbox that hides them");
	}
}

void hint_text(struct text *t, const struct hint *h)
{
	switch (h->step) {
	case HINT_OPEN: open_failed(t, h); break;
	case HINT_RING: ring_failed(t, h); break;
	case HINT_FILES: hints_files(t, h); break;
	case HINT_TRACEFS: tracefs_failed(t, h); break;
	case HINT_PROC: proc_failed(t, h); break;
	case HINT_CGROUP: cgroup_failed(t, h); break;
	case HINT_KALLSYMS: kallsyms_failed(t, h); break;
	}
}
