/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sources.h - opens the events of a recording on every CPU, each CPU with a ring for samples and a smaller one for
 * process state, so that a flood of samples cannot drop state.
 *
 * The kernel may be older than the requested features, and the user may have fewer rights: sources_open omits
 * unsupported features step by step, in the attributes of the caller, and sources_without_kernel returns
 * true if kernel code is among the omissions. Samples carry ids of the kernel's descriptors; sources_event translates
 * them to the index of the event, which is the same in every window and on every CPU that comes and goes.
 */
#ifndef PJ_SOURCES_H
#define PJ_SOURCES_H

#include "record/perf/chunk.h"
#include "record/perf/rings.h"

#include <sys/types.h>

/* Selects the processes whose events are opened. */
enum target {
	TARGET_HOST,      /* all processes on all CPUs */
	TARGET_PROCESSES, /* all processes are sampled on all CPUs; the recorder drops samples of others */
	TARGET_THREADS,   /* each thread of the processes on each CPU, if CPU-wide events are not allowed */
	TARGET_CGROUPS,
	TARGET_COMMAND /* a child that has not called exec yet, and its children; events start with exec */
};

/* Pointers must stay valid until sources_close. */
struct sources_options {
	enum target target;
	/* processes of TARGET_PROCESSES and TARGET_THREADS; the one child of TARGET_COMMAND */
	const uint32_t *pid;
	size_t npids;
	/* directories of TARGET_CGROUPS */
	char *const *cgroup;
	size_t ncgroups;
	/* sampled events; what the kernel refuses is removed from their attr */
	struct chunk_event *event;
	size_t nevents;
	/* event that carries process state */
	struct perf_event_attr *state;
	/* event that reports context switches, or NULL */
	struct perf_event_attr *switches;
	/* size of a ring for samples; 0 for RING_MAX or RING_SMALL, or what is allowed */
	size_t ring_bytes;
	/* Applies if ring_bytes is 0: a larger size that one second of samples needs, reduced to what is allowed, */
	size_t ring_wanted;
	/* but not below ring_least, where opening fails instead; 0 if no larger size is needed */
	size_t ring_least;
	/* the process may lock memory without limit */
	bool large;
};

/* Sizes of rings in bytes. The large ones hold some seconds of deep stacks, and of a storm of short processes. The
 * small ones fit into the memory that every user may lock for each CPU, kernel.perf_event_mlock_kb, 516. */
#define RING_MAX ((size_t)1 << 20)
#define RING_STATE ((size_t)512 << 10)
#define RING_SMALL ((size_t)256 << 10)
#define RING_STATE_SMALL ((size_t)128 << 10)
#define RING_LEAST ((size_t)32 << 10)
#define RING_STACKS ((size_t)32 << 20) /* maximum if samples contain stack copies */
#define RING_SWITCHES 4 /* size as a multiple of a ring for samples, since each switch is three records */

/* Failure of sources_open: the step, its errno and its arguments. */
struct sources_failure {
	enum { SOURCES_OPEN, SOURCES_MAP, SOURCES_CGROUP, SOURCES_PROCESS } step;
	int error;
	/* of SOURCES_OPEN and SOURCES_MAP */
	struct perf_event_attr attr;
	/* name of the event or cgroup, or NULL */
	const char *what;
	enum target target;
	/* process and CPU of the event; cpu is -1 if the failure is not about one */
	uint32_t pid;
	int cpu;
	/* SOURCES_MAP: bytes of all rings of a CPU; other steps: number of descriptors */
	uint64_t needed;
};

struct sources;

/* Opens all events, disabled, and adds their rings to `rings`, with the CPU as tag. Returns NULL and sets *why if one
 * of them cannot be opened, or if fewer descriptors than windows and /proc need would remain; then nothing stays open.
 */
struct sources *sources_open(const struct sources_options *options, struct rings *rings, struct sources_failure *why);
/* Enables all events. Those of TARGET_COMMAND start with exec instead. */
void sources_enable(struct sources *sources);
/* Closes events and removes their rings. Accepts NULL. */
void sources_close(struct sources *sources);

/* Opens events on CPUs that came online and closes those of CPUs that went offline, after calling `drain`, which
 * takes the records out of their rings. Returns true if a CPU was added. */
bool sources_follow_cpus(struct sources *sources, void (*drain)(void *to), void *to);

/* Returns the index of the event with the kernel's id: 1 for event[0], nevents + 1 for the state event, nevents + 2
 * for switches; 0 for an unknown id. */
uint64_t sources_event(const struct sources *sources, uint64_t id);

/* Returns the number of lost samples since the start according to the kernel's counters; 0 if the kernel does not
 * count them. */
uint64_t sources_lost(const struct sources *sources);

/* Returns the number of CPUs, and of open descriptors. */
size_t sources_cpus(const struct sources *sources);
size_t sources_fds(const struct sources *sources);
/* Returns true if only user space is recorded, for lack of permission. */
bool sources_without_kernel(const struct sources *sources);

/* Parses a list such as "0-3,8" in /sys/devices/system/cpu/online. Returns an array from malloc with *n CPUs. */
uint32_t *sources_parse_cpus(struct str string, size_t *n);

#endif
