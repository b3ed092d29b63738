/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hints.h - one-line messages for failed steps: the cause, and the command that helps.
 *
 *     struct hint h = { .step = HINT_OPEN, .error = errno, .cpu_wide = true, .attr = &attr };
 *     hint_gather(&h.facts);
 *     hint_text(&t, &h);    "system-wide recording needs CAP_PERFMON, or kernel.perf_event_paranoid <= 0 (now 2): ..."
 *
 * hint_text is pure, a function of the struct, so tests have a row for each case. Errors of perf_event_open: EACCES
 * is missing permission. EPERM is that of tracepoints, of seccomp filters (Docker's default) or of a security
 * module. ENOSYS is that of newer filters (podman, systemd), or of a kernel or sandbox without perf events.
 */
#ifndef PJ_HINTS_H
#define PJ_HINTS_H

#include "common/text.h"

#include <linux/perf_event.h>
#include <sys/types.h>

/* The step that failed. The comments name the members of struct hint that apply only to it. */
enum hint_step {
	HINT_OPEN,    /* perf_event_open */
	HINT_RING,    /* mmap of a ring */
	HINT_FILES,   /* no free descriptors: EMFILE or ENFILE of any call, or a failed setrlimit */
	HINT_TRACEFS, /* reading the id or format of tracepoint `name` */
	HINT_PROC,    /* reading /proc/PID of process `pid` */
	HINT_CGROUP,  /* opening the directory of cgroup `name`, as the user wrote it */
	HINT_KALLSYMS /* addresses of kernel symbols are all zero, or cannot be read */
};

#define HINT_UNKNOWN INT32_MIN

/* Facts about the host and the rights of the recorder. HINT_UNKNOWN, or an empty string, marks a fact that could not
 * be read. */
struct hint_facts {
	/* kernel.perf_event_paranoid; 3 and 4 exist on Debian and Ubuntu; unknown if the file does not exist */
	int paranoid;
	int kptr_restrict;
	int seccomp;      /* 0 off, 1 strict, 2 filter */
	int no_new_privs; /* 1: capabilities of files are ignored */
	int lockdown;     /* 0 none, 1 integrity, 2 confidentiality */
	int container;    /* 1: in a container, as far as that is visible from inside */
	int user_ns;      /* 1: in a user namespace, where capabilities do not apply to the host */
	int pid_ns;       /* 1: in a PID namespace, where processes of the host have other pids or none */
	int tracefs;      /* 1: tracefs is mounted */
	/* 1: version 2 is the only hierarchy; 2: it exists beside those of version 1 and perf uses it; 0: perf uses
	 * one of version 1 */
	int cgroup2;
	/* kernel.perf_event_max_sample_rate, kernel.perf_event_mlock_kb, RLIMIT_MEMLOCK in bytes (-1: no limit),
	 * RLIMIT_NOFILE, CPUs online */
	int64_t max_sample_rate, mlock_kb, memlock, files_soft, files_hard, cpus;
	uint64_t cap_effective, cap_bounding;
	uid_t uid;
	bool old_kernel;   /* the kernel has no CAP_PERFMON and uses CAP_SYS_ADMIN instead */
	char program[256]; /* path of the running executable, for setcap */
};

/* A failed step. The caller sets step, error and the members that apply to the step. */
struct hint {
	enum hint_step step;
	/* errno of the step */
	int error;
	/* HINT_OPEN: attributes of the event; may be NULL */
	const struct perf_event_attr *attr;
	/* HINT_OPEN: the event is for all processes on a CPU */
	bool cpu_wide;
	/* process that the step is about; 0 for an own one */
	pid_t pid;
	/* uid of that process; -1 if it has ended */
	int64_t owner;
	/* event, tracepoint or cgroup as the user wrote it; may be NULL */
	const char *name;
	/* HINT_RING: bytes of all rings of a CPU. HINT_FILES: number of descriptors that are needed; 0 if unknown. */
	uint64_t ring_bytes, needed;
	/* HINT_RING: smaller rings are of no use */
	bool no_less;
	struct hint_facts facts;
};

/* Reads all facts from /proc, /sys and the environment (hintfacts.c). */
void hint_gather(struct hint_facts *facts);

/* Fills all of *hint, including the facts, from a failure of sources_open (sources.h). *why must live as long as
 * *hint. */
struct sources_failure;
void hint_failure(struct hint *hint, const struct sources_failure *why);

/* Returns true if kernel symbols are hidden, with step and error in *hint for hint_text. The caller has gathered the
 * facts. */
bool hint_kallsyms(struct hint *hint);

/* Returns the uid of a process, -1 if it has ended. */
int64_t hint_owner(pid_t pid);

/* Appends one line without a newline: the cause and, after ": ", the remedy. It is never empty: an unknown error is
 * named. */
void hint_text(struct text *text, const struct hint *hint);

/* Appends the way to obtain a capability ("cap_perfmon"), with the words that end a hint_text: "run it as root, or:
 * sudo setcap ...". */
void hint_capability(struct text *text, const struct hint_facts *facts, const char *cap);

/* Returns true if the error of a hardware event means that the CPU or hypervisor lacks it, so that cpu-clock can
 * replace it. */
bool hint_no_pmu(int error);

#endif
