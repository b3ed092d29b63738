/* hints_test - a row for each thing that can be wrong: the line says what, and which command helps. */
/* covers: record/perf/hints.c record/perf/hintfacts.c */
#include "record/perf/hints.h"

#include "common/diag.h"
#include "test/lib/tap.h"

#include <errno.h>
#include <unistd.h>

#define ALL UINT64_C(0x1ffffffffff)
#define PERFMON (UINT64_C(1) << 38)

/* A host where everything is as a distribution sets it up. */
static const struct hint_facts host = { .paranoid = 2,
					.max_sample_rate = 100000,
					.mlock_kb = 516,
					.memlock = 8388608,
					.files_soft = 1024,
					.files_hard = 4096,
					.cpus = 64,
					.cap_bounding = ALL,
					.uid = 1000,
					.tracefs = 1,
					.cgroup2 = 1,
					.lockdown = HINT_UNKNOWN,
					.yama = HINT_UNKNOWN,
					.program = "/usr/bin/pjrecord" };

static const struct perf_event_attr cycles = { .type = PERF_TYPE_HARDWARE, .freq = 1, .sample_freq = 303 };
static const struct perf_event_attr fast = { .type = PERF_TYPE_SOFTWARE, .freq = 1, .sample_freq = 200000 };
static const struct perf_event_attr user_only = { .type = PERF_TYPE_SOFTWARE, .exclude_kernel = 1 };
static const struct perf_event_attr tracepoint = { .type = PERF_TYPE_TRACEPOINT };
static const struct perf_event_attr uprobe = { .type = PERF_TYPE_MAX + 2 };

#define SETCAP \
	"sudo setcap cap_perfmon,cap_ipc_lock,cap_syslog,cap_sys_ptrace,cap_dac_read_search,cap_sys_nice=ep /usr/bin/pjrecord"

#define HINT(...)                          \
	(struct hint)                      \
	{                                  \
		.facts = host, __VA_ARGS__ \
	}
/* The same on a machine where something is different: changes of *f. */
#define ROW_WITH(changes, h, want, what)           \
	do {                                       \
		struct hint one = h;               \
		struct hint_facts *f = &one.facts; \
		changes;                           \
		row(one, want, what);              \
	} while (0)

static struct text t;

static void row(struct hint hint, const char *want, const char *what)
{
	t.n = 0;
	hint_text(&t, &hint);
	is_str(text_view(&t), str_of(want), what);
}

static void permission(void)
{
	row(HINT(.step = HINT_OPEN, .error = EACCES, .cpu_wide = true, .attr = &cycles),
	    "recording all threads of a CPU needs CAP_PERFMON, or kernel.perf_event_paranoid <= 0 (now 2): run it as root, or: " SETCAP
	    ", or: sudo sysctl kernel.perf_event_paranoid=0",
	    "system-wide, paranoid 2");
	ROW_WITH(
		(f->no_new_privs = 1), HINT(.step = HINT_OPEN, .error = EACCES, .cpu_wide = true, .attr = &cycles),
		"recording all threads of a CPU needs CAP_PERFMON, or kernel.perf_event_paranoid <= 0 (now 2): run it as root, or: "
		"sudo sysctl kernel.perf_event_paranoid=0",
		"with no_new_privs setcap does not help");
	ROW_WITH(
		(f->old_kernel = true), HINT(.step = HINT_OPEN, .error = EACCES, .cpu_wide = true, .attr = &cycles),
		"recording all threads of a CPU needs CAP_SYS_ADMIN, or kernel.perf_event_paranoid <= 0 (now 2): run it as root, or: sudo "
		"setcap cap_sys_admin,cap_ipc_lock,cap_syslog,cap_sys_ptrace,cap_dac_read_search,cap_sys_nice=ep /usr/bin/pjrecord, or: sudo sysctl "
		"kernel.perf_event_paranoid=0",
		"before CAP_PERFMON");
	for (int level = 3; level <= 4; level++) {
		char want[500];

		snprintf(
			want, sizeof(want),
			"kernel.perf_event_paranoid is %d, at which recording needs CAP_PERFMON: run it as root, or: " SETCAP
			", or: sudo sysctl kernel.perf_event_paranoid=1",
			level);
		ROW_WITH((f->paranoid = level), HINT(.step = HINT_OPEN, .error = EACCES, .attr = &user_only), want,
			 "Debian's and Ubuntu's levels, own process");
	}
	ROW_WITH(
		(f->paranoid = 2), HINT(.step = HINT_OPEN, .error = EACCES, .attr = &cycles),
		"kernel stacks need CAP_PERFMON, or kernel.perf_event_paranoid <= 1 (now 2): run it as root, or: " SETCAP
		", or: sudo sysctl kernel.perf_event_paranoid=1",
		"own process with kernel, paranoid 2");
	row(HINT(.step = HINT_OPEN, .error = EACCES, .attr = &user_only, .pid = 123, .owner = 0),
	    "process 123 belongs to user 0, which needs CAP_SYS_PTRACE and CAP_PERFMON: run it as root, or: " SETCAP,
	    "another user's process");
	ROW_WITH(
		(f->container = 1),
		HINT(.step = HINT_OPEN, .error = EACCES, .attr = &user_only, .pid = 123, .owner = 0),
		"process 123 belongs to user 0, which needs CAP_SYS_PTRACE and CAP_PERFMON: start the container with --cap-add=SYS_PTRACE "
		"(Kubernetes: securityContext.capabilities.add: [SYS_PTRACE])",
		"another user's process, in a container");
	ROW_WITH(
		(f->uid = 0, f->cap_effective = PERFMON),
		HINT(.step = HINT_OPEN, .error = EACCES, .cpu_wide = true, .attr = &cycles),
		"a security module (SELinux, AppArmor) refuses perf_event_open, though the capability is there: look for 'denied' in: sudo "
		"journalctl -k -g denied",
		"with the capability: a security module");
	for (int level = 3; level <= 4; level++) {
		char want[200];

		snprintf(
			want, sizeof(want),
			"kernel.perf_event_paranoid is %d, at which this kernel (Debian's) requires CAP_SYS_ADMIN instead of CAP_PERFMON, or: sudo sysctl "
			"kernel.perf_event_paranoid=2",
			level);
		ROW_WITH((f->paranoid = level, f->cap_effective = PERFMON),
			 HINT(.step = HINT_OPEN, .error = EACCES, .cpu_wide = true, .attr = &cycles), want,
			 "with CAP_PERFMON alone, on a kernel of Debian");
	}
	ROW_WITH(
		(f->paranoid = -1), HINT(.step = HINT_OPEN, .error = EACCES, .cpu_wide = true, .attr = &cycles),
		"a security module (SELinux, AppArmor) refuses perf_event_open, though kernel.perf_event_paranoid allows it: look for 'denied' "
		"in: sudo journalctl -k -g denied",
		"with paranoid -1: a security module");
	ROW_WITH(
		(f->uid = 0), HINT(.step = HINT_OPEN, .error = EACCES, .cpu_wide = true, .attr = &cycles),
		"recording all threads of a CPU needs CAP_PERFMON, or kernel.perf_event_paranoid <= 0 (now 2): root has lost CAP_PERFMON here: "
		"allow it (systemd: CapabilityBoundingSet=), or: sudo sysctl kernel.perf_event_paranoid=0",
		"root without the capability");
	row(HINT(.step = HINT_OPEN, .error = EPERM, .cpu_wide = true, .attr = &tracepoint),
	    "tracepoints need CAP_PERFMON, or kernel.perf_event_paranoid = -1 (now 2): run it as root, or: " SETCAP
	    ", or: sudo sysctl kernel.perf_event_paranoid=-1",
	    "tracepoints");
}

static void uprobes(void)
{
	row(HINT(.step = HINT_OPEN, .error = EACCES, .cpu_wide = true, .attr = &uprobe),
	    "uprobes need CAP_SYS_ADMIN: run it as root", "uprobes");
	ROW_WITH(
		(f->cap_effective = PERFMON, f->unit = 1),
		HINT(.step = HINT_OPEN, .error = EACCES, .cpu_wide = true, .attr = &uprobe),
		"uprobes need CAP_SYS_ADMIN: add CAP_SYS_ADMIN to AmbientCapabilities= and CapabilityBoundingSet= of its unit",
		"uprobes, with CAP_PERFMON");
	row(HINT(.step = HINT_OPEN, .error = 524, .attr = &uprobe, .name = "uprobe:/bin/sh:f"),
	    "the kernel cannot place a breakpoint on the first instruction of 'uprobe:/bin/sh:f': choose a function that "
	    "calls it, or that it calls",
	    "a uprobe on an instruction that is refused");
	row(HINT(.step = HINT_OPEN, .error = EIO, .attr = &uprobe, .name = "uprobe:/bin/sh:f"),
	    "the file system of 'uprobe:/bin/sh:f' does not support breakpoints: probe a copy in a local file system",
	    "a uprobe in a file system without pages");
	row(HINT(.step = HINT_OPEN, .error = EINVAL, .attr = &uprobe, .name = "uprobe:/bin/sh:f"),
	    "the kernel refuses a breakpoint at 'uprobe:/bin/sh:f' (EINVAL): choose another function",
	    "a uprobe that is refused");
	row(HINT(.step = HINT_OPEN, .error = ENOENT, .attr = &uprobe, .name = "uprobe:/bin/sh:f"),
	    "/proc is not mounted, so the kernel does not find 'uprobe:/bin/sh:f': mount it", "a uprobe without /proc");
}

static void containers(void)
{
	ROW_WITH(
		(f->uid = 0, f->container = 1, f->seccomp = 2),
		HINT(.step = HINT_OPEN, .error = EPERM, .cpu_wide = true, .attr = &cycles),
		"a seccomp filter forbids perf_event_open (EPERM): start the container with --cap-add=PERFMON, with which Docker's filter allows "
		"it (Kubernetes: securityContext.capabilities.add: [PERFMON]), or --security-opt seccomp=unconfined",
		"Docker's filter");
	ROW_WITH(
		(f->container = 1, f->seccomp = 2, f->cap_effective = PERFMON),
		HINT(.step = HINT_OPEN, .error = ENOSYS, .attr = &cycles),
		"a seccomp filter forbids perf_event_open (ENOSYS): start the container with --security-opt seccomp=unconfined, or a profile "
		"that allows it (Kubernetes: seccompProfile)",
		"a filter that answers ENOSYS, though the capability is there");
	ROW_WITH(
		(f->seccomp = 2), HINT(.step = HINT_OPEN, .error = EPERM, .attr = &cycles),
		"a seccomp filter forbids perf_event_open (EPERM): run it outside of the sandbox (systemd: SystemCallFilter=perf_event_open)",
		"a filter outside of containers");
	ROW_WITH(
		(f->seccomp = 2, f->paranoid = HINT_UNKNOWN), HINT(.step = HINT_OPEN, .error = ENOSYS, .attr = &cycles),
		"this host has no perf events: the kernel lacks CONFIG_PERF_EVENTS, or a sandbox (gVisor) hides them: run it on the host",
		"ENOSYS, and no sysctl either");
	ROW_WITH(
		(f->uid = 0, f->container = 1),
		HINT(.step = HINT_OPEN, .error = EACCES, .cpu_wide = true, .attr = &cycles),
		"recording all threads of a CPU needs CAP_PERFMON, or kernel.perf_event_paranoid <= 0 (now 2): start the container with "
		"--cap-add=PERFMON (Kubernetes: securityContext.capabilities.add: [PERFMON]), or on the host: sudo sysctl "
		"kernel.perf_event_paranoid=0",
		"a container without a filter");
	ROW_WITH(
		(f->uid = 0, f->container = 1, f->user_ns = 1, f->cap_effective = ALL),
		HINT(.step = HINT_OPEN, .error = EACCES, .cpu_wide = true, .attr = &cycles),
		"recording all threads of a CPU needs CAP_PERFMON, or kernel.perf_event_paranoid <= 0 (now 2): capabilities of a user "
		"namespace (a rootless container) do not count: on the host: sudo sysctl kernel.perf_event_paranoid=0",
		"a rootless container, where root has all capabilities and none");
	ROW_WITH(
		(f->uid = 0, f->cap_effective = ALL), HINT(.step = HINT_OPEN, .error = EPERM, .attr = &cycles),
		"a security module (SELinux, AppArmor) refuses perf_event_open, though the capability is there: look for 'denied' in: sudo "
		"journalctl -k -g denied",
		"EPERM without a filter");
}

static void other_reasons(void)
{
	row(HINT(.step = HINT_OPEN, .error = ENOENT, .attr = &cycles, .name = "cycles"),
	    "no hardware counter for 'cycles' (a virtual machine without a PMU): use -e cpu-clock", "no PMU: ENOENT");
	row(HINT(.step = HINT_OPEN, .error = EOPNOTSUPP, .attr = &cycles, .name = "cycles"),
	    "no hardware counter for 'cycles' (a virtual machine without a PMU): use -e cpu-clock", "EOPNOTSUPP");
	row(HINT(.step = HINT_OPEN, .error = ENOENT, .attr = &cycles, .name = "cycles:u"),
	    "no hardware counter for 'cycles:u' (a virtual machine without a PMU): use -e cpu-clock:u", "a modifier");
	row(HINT(.step = HINT_OPEN, .error = ENOENT, .attr = &cycles, .name = "cycles:ppk"),
	    "no hardware counter for 'cycles:ppk' (a virtual machine without a PMU): use -e cpu-clock:k",
	    "a modifier of a clock, and one of counters only");
	ok(hint_no_pmu(ENOENT) && hint_no_pmu(ENXIO) && hint_no_pmu(ENODEV) && hint_no_pmu(EOPNOTSUPP) &&
		   !hint_no_pmu(EACCES) && !hint_no_pmu(EINVAL) && !hint_no_pmu(ENOSYS) && !hint_no_pmu(0),
	   "which errors mean that");
	row(HINT(.step = HINT_OPEN, .error = EINVAL, .attr = &fast),
	    "200000 samples a second are more than kernel.perf_event_max_sample_rate allows (now 100000): -F 100000, or: sudo sysctl "
	    "kernel.perf_event_max_sample_rate=200000",
	    "too fast");
	row(HINT(.step = HINT_OPEN, .error = EINVAL, .attr = &cycles, .name = "r1234"),
	    "this kernel or CPU does not support 'r1234' with these options (EINVAL): choose another event, such as -e cpu-clock",
	    "EINVAL of another kind");
	row(HINT(.step = HINT_OPEN, .error = EBUSY, .attr = &cycles, .name = "cycles"),
	    "the counter for 'cycles' is in use (by the NMI watchdog, another profiler): sudo sysctl kernel.nmi_watchdog=0, or -e "
	    "cpu-clock",
	    "a counter that is taken");
	row(HINT(.step = HINT_OPEN, .error = ESRCH, .pid = 123, .owner = -1),
	    "no process 123: it may have ended; see: pgrep -l NAME", "a process that is gone");
	ROW_WITH((f->pid_ns = 1, f->container = 1), HINT(.step = HINT_OPEN, .error = ESRCH, .pid = 123, .owner = -1),
		 "no process 123: PIDs are those of this container's PID namespace (hostPID: true, --pid=host)",
		 "or elsewhere");
	row(HINT(.step = HINT_OPEN, .error = EBADF, .name = "/tmp"),
	    "'/tmp' is not a cgroup of perf's hierarchy: see: cat /proc/PID/cgroup", "a directory that is no cgroup");
	row(HINT(.step = HINT_OPEN, .error = EMFILE),
	    "too many descriptors are required, 4096 are allowed: ulimit -n 16384 (as root; systemd: "
	    "LimitNOFILE=16384)",
	    "too many descriptors");
	row(HINT(.step = HINT_FILES, .error = EMFILE, .needed = 10000),
	    "10000 descriptors are required, 4096 are allowed: ulimit -n 10000 (as root; systemd: LimitNOFILE=10000)",
	    "that many");
	row(HINT(.step = HINT_FILES, .error = ENFILE),
	    "the system has too many open files: sudo sysctl fs.file-max=1000000", "of the system");
	row(HINT(.step = HINT_OPEN, .error = EINTR), "perf_event_open: Interrupted system call",
	    "anything else is named");
	row(HINT(.step = HINT_RING, .error = EPERM, .ring_bytes = 1048576),
	    "rings of 1024 kB for 64 CPUs are more locked memory than kernel.perf_event_mlock_kb (now 516 for each CPU and user) and ulimit "
	    "-l (now 8192 kB) allow: a smaller --ring-size, or: sudo sysctl kernel.perf_event_mlock_kb=1024, or CAP_IPC_LOCK: run it as "
	    "root, or: " SETCAP,
	    "too much locked memory");
	row(HINT(.step = HINT_RING, .error = ENOMEM, .ring_bytes = 1048576),
	    "no memory for a ring of 1024 kB: a smaller --ring-size", "no memory");
	row(HINT(.step = HINT_RING, .error = EINVAL), "cannot map a ring: Invalid argument", "another error");
}

static void files(void)
{
	ROW_WITH((f->tracefs = 0), HINT(.step = HINT_TRACEFS, .error = ENOENT, .name = "sched:sched_switch"),
		 "tracefs is not mounted: sudo mount -t tracefs none /sys/kernel/tracing", "tracefs is not mounted");
	row(HINT(.step = HINT_TRACEFS, .error = ENOENT, .name = "sched:sched_swich"),
	    "no tracepoint 'sched:sched_swich': see: sudo ls /sys/kernel/tracing/events/sched",
	    "a tracepoint that is not there");
	row(HINT(.step = HINT_TRACEFS, .error = EACCES, .name = "sched:sched_switch"),
	    "reading the format of 'sched:sched_switch' needs CAP_DAC_READ_SEARCH, or a mode that allows it: run it as root, or: " SETCAP
	    ", or: sudo mount -o remount,mode=755 /sys/kernel/tracing",
	    "one that may not be read");
	ROW_WITH(
		(f->lockdown = 2), HINT(.step = HINT_TRACEFS, .error = EPERM, .name = "sched:sched_switch"),
		"the kernel is locked down (confidentiality), which forbids tracepoints: boot without lockdown=confidentiality",
		"lockdown");
	row(HINT(.step = HINT_PROC, .error = EACCES, .pid = 7, .owner = 0),
	    "process 7 belongs to user 0, whose memory map only CAP_SYS_PTRACE shows: run it as root, or: " SETCAP,
	    "/proc of another user");
	row(HINT(.step = HINT_PROC, .error = ENOENT, .pid = 7, .owner = -1),
	    "no process 7: it may have ended; see: pgrep -l NAME", "gone");
	row(HINT(.step = HINT_CGROUP, .error = ENOENT, .name = "/sys/fs/cgroup/web"),
	    "there is no cgroup 'web' below /sys/fs/cgroup: cat /proc/PID/cgroup prints those of a process",
	    "a cgroup that is not there");
	ROW_WITH((f->cgroup2 = 0), HINT(.step = HINT_CGROUP, .error = ENOENT, .name = "web"),
		 "there is no cgroup 'web' below /sys/fs/cgroup/perf_event: cat /proc/PID/cgroup prints those of a "
		 "process",
		 "in the older hierarchy");
	ROW_WITH(
		(f->kptr_restrict = 2, f->cap_effective = ALL), HINT(.step = HINT_KALLSYMS),
		"kernel.kptr_restrict is 2, which hides kernel symbols from all users: sudo sysctl kernel.kptr_restrict=1",
		"kptr_restrict 2");
	ROW_WITH((f->kptr_restrict = 1), HINT(.step = HINT_KALLSYMS),
		 "kernel symbols are hidden without CAP_SYSLOG: run it as root, or: " SETCAP
		 ", or: sudo sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1",
		 "kptr_restrict 1");
	row(HINT(.step = HINT_KALLSYMS),
	    "kernel symbols are hidden without CAP_SYSLOG: run it as root, or: " SETCAP
	    ", or: sudo sysctl kernel.perf_event_paranoid=1",
	    "kptr_restrict 0 alone does not show them");
}

static void realtime(void)
{
	row(HINT(.step = HINT_REALTIME, .error = EPERM),
	    "real-time priority needs CAP_SYS_NICE: run it as root, or: " SETCAP, "a user");
	ROW_WITH((f->uid = 0), HINT(.step = HINT_REALTIME, .error = EPERM),
		 "real-time priority needs CAP_SYS_NICE: root has lost CAP_SYS_NICE here: allow it (systemd: "
		 "CapabilityBoundingSet=)",
		 "root without the capability");
	ROW_WITH((f->unit = 1), HINT(.step = HINT_REALTIME, .error = EPERM),
		 "real-time priority needs CAP_SYS_NICE: add CAP_SYS_NICE to AmbientCapabilities= and "
		 "CapabilityBoundingSet= of its unit",
		 "a unit");
	ROW_WITH((f->uid = 0, f->container = 1), HINT(.step = HINT_REALTIME, .error = EPERM),
		 "real-time priority needs CAP_SYS_NICE: start the container with --cap-add=SYS_NICE (Kubernetes: "
		 "securityContext.capabilities.add: [SYS_NICE])",
		 "a container");
	ROW_WITH(
		(f->uid = 0, f->user_ns = f->container = 1, f->cap_effective = ALL),
		HINT(.step = HINT_REALTIME, .error = EPERM),
		"real-time priority needs CAP_SYS_NICE: capabilities of a user namespace (a rootless container) do not "
		"count here: run it outside",
		"root of a user namespace");
	ROW_WITH((f->cap_effective = ALL), HINT(.step = HINT_REALTIME, .error = ENOSYS),
		 "a seccomp filter forbids real-time priority: set RestrictRealtime=no in its unit, and "
		 "SystemCallFilter=sched_setscheduler",
		 "a unit with the capability");
	ROW_WITH((f->container = 1, f->cap_effective = ALL), HINT(.step = HINT_REALTIME, .error = ENOSYS),
		 "a seccomp filter forbids real-time priority: start the container with a profile that allows "
		 "sched_setscheduler",
		 "a container with the capability");
	ROW_WITH((f->seccomp = 2, f->container = 1, f->cap_effective = ALL),
		 HINT(.step = HINT_REALTIME, .error = EPERM),
		 "the kernel refuses real-time priority, though CAP_SYS_NICE is there: allow it with sysctl "
		 "kernel.sched_rt_runtime_us, or cpu.rt_runtime_us of the cgroup (docker run --cpu-rt-runtime)",
		 "a cgroup without real-time budget");
}

static void memory(void)
{
	row(HINT(.step = HINT_MEMORY, .error = EPERM),
	    "reading the memory of other processes needs CAP_SYS_PTRACE: run it as root, or: " SETCAP, "a user");
	ROW_WITH(
		(f->yama = 1), HINT(.step = HINT_MEMORY, .error = EPERM),
		"reading the memory of other processes needs CAP_SYS_PTRACE, or kernel.yama.ptrace_scope 0 (now 1): run "
		"it as root, or: " SETCAP,
		"a user of a kernel with Yama");
	ROW_WITH(
		(f->yama = 3, f->cap_effective = ALL), HINT(.step = HINT_MEMORY, .error = EPERM),
		"kernel.yama.ptrace_scope is 3, at which no process may read the memory of another one: set it to 2 in "
		"/etc/sysctl.d and boot again",
		"Yama forbids it to all");
	ROW_WITH((f->container = 1), HINT(.step = HINT_MEMORY, .error = EACCES),
		 "reading the memory of other processes needs CAP_SYS_PTRACE: start the container with "
		 "--cap-add=SYS_PTRACE (Kubernetes: securityContext.capabilities.add: [SYS_PTRACE])",
		 "a container");
	ROW_WITH(
		(f->yama = 1, f->cap_effective = ALL), HINT(.step = HINT_MEMORY, .error = EACCES),
		"a security module (SELinux, AppArmor) forbids to read the memory of other processes: look for 'denied' "
		"in: sudo journalctl -k -g denied",
		"a security module");
}

/* No combination of step, error and facts gives an empty line, or one of two. */
static void never_empty(void)
{
	static const struct perf_event_attr *const attr[] = { NULL, &cycles, &fast, &user_only, &tracepoint };
	uint64_t bad = 0, n = 0;

	for (int step = HINT_OPEN; step <= HINT_MEMORY; step++)
		for (int error = 0; error < 134; error++)
			for (unsigned bits = 0; bits < 1024; bits++) {
				struct hint h = { .step = (enum hint_step)step,
						  .error = error,
						  .attr = attr[bits % countof(attr)],
						  .cpu_wide = bits & 1,
						  .pid = bits & 2 ? 5 : 0,
						  .owner = bits & 4 ? 0 : -1,
						  .facts = host };

				h.facts.seccomp = bits & 8 ? 2 : HINT_UNKNOWN;
				h.facts.paranoid = bits & 16 ? HINT_UNKNOWN : (int)(bits >> 7) - 2;
				h.facts.user_ns = bits & 32 ? 1 : 0;
				h.facts.container = bits & 64 ? 1 : 0;
				h.facts.cap_effective = bits & 128 ? ALL : 0;
				h.facts.uid = bits & 256 ? 0 : 1000;
				h.facts.yama = bits & 512 ? (int)(bits & 3) : HINT_UNKNOWN;
				t.n = 0;
				hint_text(&t, &h);
				bad += t.n < 12 || t.n > 700 || str_find(text_view(&t), '\n') >= 0;
				n++;
			}
	ok(bad == 0 && n > 900000, "every combination has a line");
}

int main(void)
{
	struct hint_facts f;

	diag_tool("pjtest");
	permission();
	uprobes();
	containers();
	other_reasons();
	files();
	realtime();
	memory();
	never_empty();
	hint_gather(&f);
	ok(f.cpus > 0 && f.files_hard > 0 && f.program[0] == '/', "facts of this machine");
	ok(hint_owner(getpid()) == (int64_t)geteuid() && hint_owner(0x7ffffff) == -1, "owners of processes");
	text_free(&t);
	return done();
}
