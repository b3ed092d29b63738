/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hints.h - one-line messages for failed steps: the cause, and the command that helps.
 *
 *     struct hint h = { .step = HINT_OPEN, .error = errno, .cpu_wide = true, .attr = &attr };
 *     hint_gather(&h.facts);
 *     hint_text(&t, &h);    "recording all threads of a CPU needs CAP_PERFMON, ..."
 *
 * hint_text is pure, a function of the struct, so tests have a row for each case.
 *
 * Errors of perf_event_open: EACCES means missing permission. EPERM comes from tracepoints, from seccomp filters
 * (Docker's default) or from a security module. ENOSYS comes from newer seccomp filters (podman, systemd), or from a
 * kernel or sandbox without perf events.
 */
#ifndef PJ_HINTS_H
#define PJ_HINTS_H

#include "common/text.h"

#include <linux/perf_event.h>
#include <sys/types.h>

/* The step that failed. In the comments below, `name` and `pid` are members of struct hint. */
enum hint_step {
	HINT_OPEN,     /* perf_event_open failed */
	HINT_RING,     /* mmap of a ring failed */
	HINT_FILES,    /* no file descriptor was free: EMFILE or ENFILE of any call, or a failed setrlimit */
	HINT_TRACEFS,  /* reading the id or format of tracepoint `name` failed */
	HINT_PROC,     /* reading /proc/PID of process `pid` failed */
	HINT_CGROUP,   /* opening the directory of cgroup `name` failed */
	HINT_KALLSYMS, /* addresses of kernel symbols are all 0, or cannot be read */
	HINT_REALTIME, /* privileges_realtime failed */
	HINT_MEMORY    /* privileges_memory failed */
};

#define HINT_UNKNOWN INT32_MIN

/* Facts about the host and the rights of the recorder. HINT_UNKNOWN, or an empty string, means that the fact could not
 * be read. */
struct hint_facts {
	/* kernel.perf_event_paranoid; levels 3 and 4 exist on Debian and Ubuntu; HINT_UNKNOWN if the file does not
	 * exist */
	int paranoid;
	int kptr_restrict;
	int yama;         /* kernel.yama.ptrace_scope; HINT_UNKNOWN if the kernel has no Yama */
	int seccomp;      /* seccomp mode: 0 off, 1 strict, 2 filter */
	int no_new_privs; /* 1 if no_new_privs is set, so that capabilities of files have no effect */
	int unit;         /* 1 if the recorder is a systemd unit with NoNewPrivileges= */
	int lockdown;     /* kernel lockdown: 0 none, 1 integrity, 2 confidentiality */
	int container;    /* 1 if the recorder runs in a container, as far as a process inside can see */
	int user_ns;      /* 1 if the recorder runs in a user namespace, whose capabilities do not apply to the host */
	/* 1 if the recorder runs in a PID namespace, in which processes of the host have other pids or none */
	int pid_ns;
	int tracefs; /* 1 if tracefs is mounted on this host */
	/* cgroup hierarchy of perf events, which gives the directory of its cgroups. 0: hierarchy perf_event of cgroup
	 * version 1; 1: version 2 without hierarchies of version 1; 2: version 2 beside hierarchies of version 1 */
	int cgroup2;
	/* max_sample_rate: kernel.perf_event_max_sample_rate; mlock_kb: kernel.perf_event_mlock_kb; memlock:
	 * RLIMIT_MEMLOCK in bytes; files_soft and files_hard: limits of RLIMIT_NOFILE (-1: no limit); cpus: number of
	 * CPUs online */
	int64_t max_sample_rate, mlock_kb, memlock, files_soft, files_hard, cpus;
	uint64_t cap_effective, cap_bounding;
	uid_t uid;
	bool old_kernel;   /* true if the kernel has no CAP_PERFMON and requires CAP_SYS_ADMIN instead */
	char program[256]; /* path of the running executable, for the setcap command; empty if unknown */
};

/* A failed step. The caller sets step, error, facts, and the other members that apply to the step. */
struct hint {
	enum hint_step step;
	/* errno of the failed call */
	int error;
	/* HINT_OPEN and HINT_RING: attributes of the event; may be NULL */
	const struct perf_event_attr *attr;
	/* HINT_OPEN: true if the event samples all processes on a CPU, false if it samples one process */
	bool cpu_wide;
	/* target process of the step; 0 if the step has none */
	pid_t pid;
	/* uid of process `pid`; -1 if the process has ended */
	int64_t owner;
	/* event, tracepoint or cgroup as the user wrote it; may be NULL */
	const char *name;
	/* ring_bytes, for HINT_RING: size of all rings of one CPU in bytes. needed, for HINT_FILES: number of
	 * descriptors that the recorder needs; 0 if unknown. */
	uint64_t ring_bytes, needed;
	/* HINT_RING: true if smaller rings would not hold enough samples: then the message does not recommend a smaller
	 * --ring-size */
	bool no_less;
	struct hint_facts facts;
};

/* Reads all facts from /proc, /sys and the environment (hintfacts.c). */
void hint_gather(struct hint_facts *facts);

/* Fills *hint, including its facts, from a failure of sources_open (sources.h). *why must live as long as *hint. */
struct sources_failure;
void hint_failure(struct hint *hint, const struct sources_failure *why);

/* Returns true if kernel symbols are hidden or cannot be read. Sets step and error of *hint for hint_text; the caller
 * fills hint->facts. */
bool hint_kallsyms(struct hint *hint);

/* Returns the uid of a process; -1 if the process has ended. */
int64_t hint_owner(pid_t pid);

/* Appends one line without a newline: the cause and, after ": ", the remedy. For an errno without a known cause, the
 * line has the text of strerror. */
void hint_text(struct text *text, const struct hint *hint);

/* Appends the way to obtain a capability such as "cap_perfmon", as the end of a message: "run it as root, or: sudo
 * setcap ...". */
void hint_capability(struct text *text, const struct hint_facts *facts, const char *cap);

/* Returns true if this errno of an attempt to open a hardware event means that the CPU or hypervisor lacks the counter.
 * The caller then uses cpu-clock instead. */
bool hint_no_pmu(int error);

#endif
