/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hints.h - from a step that failed to one line that says what is wrong and which command helps.
 *
 *	struct hint h = { .step = HINT_OPEN, .error = errno, .cpu_wide = true, .attr = &attr };
 *	hint_gather(&h.facts);
 *	hint_text(&t, &h);    "system-wide recording needs CAP_PERFMON, or kernel.perf_event_paranoid <= 0 (now 2): ..."
 *
 * hint_text is pure: a function of the struct, so tests have a row for each case. What the kernel answers when:
 *perf_event_open is EACCES where permission is missing, so EPERM is that of tracepoints, of seccomp filters (Docker's
 *default), or of a security module; ENOSYS is a newer filter's (podman, systemd), or a kernel or sandbox without perf
 *events.
 */
#ifndef PJ_HINTS_H
#define PJ_HINTS_H

#include "common/text.h"

#include <linux/perf_event.h>
#include <sys/types.h>

enum hint_step {
	HINT_OPEN,    /* perf_event_open */
	HINT_RING,    /* mmap of a ring */
	HINT_FILES,   /* no more descriptors: EMFILE or ENFILE of anything, or setrlimit */
	HINT_TRACEFS, /* a tracepoint's id or format; name is its name */
	HINT_PROC,    /* reading /proc/PID; pid */
	HINT_CGROUP,  /* opening the directory of a cgroup; name as given */
	HINT_KALLSYMS /* kernel symbols are all zero, or cannot be read */
};

#define HINT_UNKNOWN INT32_MIN

/* What the machine and our place in it are like. HINT_UNKNOWN, or empty: it cannot be told. */
struct hint_facts {
	int paranoid; /* kernel.perf_event_paranoid; 3 and 4 exist on Debian and Ubuntu; unknown: there is no such file
		       */
	int kptr_restrict;
	int seccomp;      /* 0 off, 1 strict, 2 filter */
	int no_new_privs; /* 1: capabilities of files are not given */
	int lockdown;     /* 0 none, 1 integrity, 2 confidentiality */
	int container;    /* 1: in one, as far as one can tell from inside */
	int user_ns;      /* 1: in a user namespace, where capabilities are not those of the host */
	int pid_ns;       /* 1: in a PID namespace: the host's processes have other numbers, or none */
	int tracefs;      /* 1: mounted */
	int cgroup2; /* 1: the only hierarchy; 2: beside those of version 1, but perf's; 0: perf has one of version 1 */
	int64_t max_sample_rate, mlock_kb, memlock, files_soft, files_hard, cpus; /* memlock: bytes; -1: no limit */
	uint64_t cap_effective, cap_bounding;
	uid_t uid;
	bool old_kernel;   /* without CAP_PERFMON: CAP_SYS_ADMIN instead */
	char program[256]; /* our executable, for setcap */
};

struct hint {
	enum hint_step step;
	int error;                          /* errno */
	const struct perf_event_attr *attr; /* HINT_OPEN: with which; may be NULL */
	bool cpu_wide;                      /* HINT_OPEN: on a CPU, all processes */
	pid_t pid;                          /* of one process; 0: own */
	int64_t owner;                      /* uid of that process; -1: it is gone */
	const char *name;                   /* of an event, tracepoint or cgroup, as the user wrote it; may be NULL */
	uint64_t ring_bytes, needed; /* HINT_RING: all of a CPU; HINT_FILES: how many descriptors are needed; 0: ? */
	bool no_less;                /* HINT_RING: smaller ones will not do */
	struct hint_facts facts;
};

void hint_gather(struct hint_facts *facts);

/* The whole of h, for what sources_open could not do (sources.h), which must live as long; facts are gathered, too. */
struct sources_failure;
void hint_failure(struct hint *hint, const struct sources_failure *why);

/* True: kernel symbols are hidden, and hint says so: its facts must be there. */
bool hint_kallsyms(struct hint *hint);

int64_t hint_owner(pid_t pid); /* uid of a process, -1: gone */

/* One line, no newline: what is wrong, and behind ": " what helps. Never empty: an unknown error is named. */
void hint_text(struct text *text, const struct hint *hint);

/* How to get that capability ("cap_perfmon"), as hint_text ends: "run it as root, or: sudo setcap ...". */
void hint_capability(struct text *text, const struct hint_facts *facts, const char *cap);

/* Is it a CPU or hypervisor without that hardware event, so that cpu-clock is to be tried? */
bool hint_no_pmu(int error);

#endif
