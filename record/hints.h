/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hints.h - from a step that failed to one line that says what is wrong and which command helps.
 *
 *	struct hint h = { .step = HINT_OPEN, .error = errno, .cpu_wide = true, .attr = &attr };
 *	hint_gather(&h.facts);
 *	hint_text(&t, &h);         "system-wide recording needs CAP_PERFMON or kernel.perf_event_paranoid <= 0 (now 2): ..."
 *
 * hint_text is pure: a function of the struct, so tests have a row for each case.
 */
#ifndef PJ_HINTS_H
#define PJ_HINTS_H

#include "text.h"

#include <linux/perf_event.h>
#include <sys/types.h>

enum hint_step {
	HINT_OPEN,    /* perf_event_open */
	HINT_RING,    /* mmap of a ring */
	HINT_FILES,   /* no more descriptors: EMFILE of anything, or setrlimit */
	HINT_TRACEFS, /* a tracepoint's id or format; name is its name */
	HINT_PROC,    /* reading /proc/PID; pid */
	HINT_CGROUP,  /* opening the directory of a cgroup; name as given */
	HINT_KALLSYMS /* kernel symbols are all zero, or cannot be read */
};

/* What the machine and our place in it are like. hint_gather fills it in; -1 and empty: not known. */
struct hint_facts {
	int paranoid; /* kernel.perf_event_paranoid; 3 and 4 exist on Debian and Ubuntu */
	int kptr_restrict;
	int seccomp;   /* 0 off, 1 strict, 2 filter */
	int lockdown;  /* 0 none, 1 integrity, 2 confidentiality */
	int container; /* 1: in one, as far as one can tell from inside */
	int user_ns;   /* 1: in a user namespace, where capabilities are not those of the host */
	int tracefs;   /* 1: mounted */
	int cgroup2;   /* 1: unified hierarchy */
	int64_t max_sample_rate, mlock_kb, memlock_limit, files_soft, files_hard, cpus;
	uint64_t cap_effective, cap_bounding;
	uid_t uid;
	bool old_kernel;   /* without CAP_PERFMON */
	char program[256]; /* our executable, for setcap */
};

struct hint {
	enum hint_step step;
	int error;                          /* errno */
	const struct perf_event_attr *attr; /* HINT_OPEN: with which; may be NULL */
	bool cpu_wide;                      /* HINT_OPEN: on a CPU, all processes */
	pid_t pid;                          /* of one process; 0: own */
	int64_t owner;                      /* uid of that process; -1: it is gone */
	const char *name;                   /* of an event, tracepoint or cgroup, as the user wrote it */
	uint64_t ring_bytes, needed;        /* HINT_RING: size of one; HINT_FILES: how many descriptors are needed */
	struct hint_facts facts;
};

void hint_gather(struct hint_facts *facts);
int64_t hint_owner(pid_t pid); /* uid of a process, -1: gone */

/* One line, no newline: what is wrong, and behind ": " what helps. Never empty: an unknown error is named. */
void hint_text(struct text *t, const struct hint *h);

/* Is it a CPU or hypervisor without that hardware event, so that cpu-clock is to be tried? */
bool hint_no_pmu(int error);

#endif
