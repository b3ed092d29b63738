/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sources.h - the kernel's events: opened for what is to be recorded, on every CPU, each CPU with a ring for samples
 * and a smaller one for the state of processes, so that a flood of samples cannot drop state.
 *
 * The kernel may be older than what we ask for, and the user may be allowed less: what cannot be had is asked for
 * without, step by step, and sources_told says what is missing. Samples carry the numbers of the kernel's descriptors;
 * here they become the number of the event, which is the same in every window, on every CPU that comes and goes.
 */
#ifndef PJ_SOURCES_H
#define PJ_SOURCES_H

#include "record/perf/chunk.h"
#include "record/perf/rings.h"

#include <sys/types.h>

enum target {
	TARGET_HOST,      /* all that runs on any CPU */
	TARGET_PROCESSES, /* all that runs on any CPU is sampled; the recorder drops what is not asked for */
	TARGET_THREADS,   /* the threads of the processes, each on each CPU: where the above is not allowed */
	TARGET_CGROUPS,
	TARGET_COMMAND /* a child that has not called exec yet, and its children; starts with exec */
};

struct sources_options {
	enum target target;
	const uint32_t *pid; /* PROCESSES, THREADS; COMMAND: the one */
	size_t npids;
	char *const *cgroup; /* CGROUPS: directories */
	size_t ncgroups;
	struct chunk_event *event; /* the samples; what the kernel refuses is changed in attr */
	size_t nevents;
	struct perf_event_attr *state;    /* the event that carries the state */
	struct perf_event_attr *switches; /* the one that tells of threads that leave CPUs and come back; NULL: none */
	size_t ring_bytes;                /* of a ring for samples; 0: RING_MOST or RING_SMALL, or what is allowed */
	size_t ring_wanted; /* where that is 0: more than these, if a second of samples needs it, or what is allowed, */
	size_t ring_least;  /* if it is that much; 0: nothing more is wanted */
	bool large;         /* memory may be locked without limit */
};

/* Whole seconds of deep stacks, and of a storm of short processes. The small ones fit into what everybody may lock for
 * each CPU, kernel.perf_event_mlock_kb, 516. */
#define RING_MAX ((size_t)1 << 20)
#define RING_STATE ((size_t)512 << 10)
#define RING_SMALL ((size_t)256 << 10)
#define RING_STATE_SMALL ((size_t)128 << 10)
#define RING_LEAST ((size_t)32 << 10)
#define RING_STACKS ((size_t)32 << 20) /* at most, where samples have copies of stacks */
#define RING_SWITCHES 4                /* times a ring for samples: each switch is three records */

/* Why events cannot be opened: what was tried, and errno. */
struct sources_failure {
	enum { SOURCES_OPEN, SOURCES_MAP, SOURCES_CGROUP, SOURCES_PROCESS } step;
	int error;
	struct perf_event_attr attr; /* OPEN, MAP */
	const char *what;            /* event, cgroup; or NULL */
	enum target target;
	uint32_t pid;
	int cpu;
	uint64_t needed; /* MAP: bytes of all rings of a CPU; else descriptors */
};

struct sources;

/* NULL and *why when not all could be opened. Nothing is enabled yet. event and state must live as long. */
struct sources *sources_open(const struct sources_options *options, struct rings *rings, struct sources_failure *why);
void sources_enable(struct sources *sources);
void sources_close(struct sources *sources);

/* CPUs that came are given events, those of CPUs that went are closed, behind what `drain` takes out of their rings.
 * True: some came. */
bool sources_follow_cpus(struct sources *sources, void (*drain)(void *to), void *to);

/* Number of the event (1 for event[0], nevents + 1 for the state, + 2 for switches) that the kernel calls id; 0: none
 * of ours. */
uint64_t sources_event(const struct sources *sources, uint64_t id);

/* Samples that the kernel lost according to its own counters, since the start; 0 where it does not count. */
uint64_t sources_lost(const struct sources *sources);

size_t sources_cpus(const struct sources *sources);
size_t sources_fds(const struct sources *sources);
bool sources_without_kernel(const struct sources *sources); /* user space only, for lack of permission */

/* Numbers in "0-3,8" as in /sys/devices/system/cpu/online; returned in memory of malloc, *n of them. */
uint32_t *sources_parse_cpus(struct str string, size_t *n);

#endif
