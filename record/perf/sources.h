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

/* Selects the processes and threads for which events are opened. */
enum target {
	TARGET_HOST,      /* events of all processes on all CPUs */
	TARGET_PROCESSES, /* events of all processes on all CPUs; the recorder drops samples of other processes */
	/* events of each thread of the processes on each CPU, for users that may not open CPU-wide events */
	TARGET_THREADS,
	TARGET_CGROUPS,
	TARGET_COMMAND /* events of a child that has not called exec yet, and of its children; they start with exec */
};

/* Options of sources_open. Pointers must stay valid until sources_close. */
struct sources_options {
	enum target target;
	/* target processes of TARGET_PROCESSES and TARGET_THREADS; for TARGET_COMMAND the one child */
	const uint32_t *pid;
	size_t npids;
	/* paths of the cgroup directories of TARGET_CGROUPS */
	char *const *cgroup;
	size_t ncgroups;
	/* events that are sampled; sources_open removes from their attributes what the kernel refuses */
	struct chunk_event *event;
	size_t nevents;
	/* attributes of the event that carries process state */
	struct perf_event_attr *state;
	/* attributes of the event that reports context switches; NULL for none */
	struct perf_event_attr *switches;
	/* size in bytes that the user demands for a ring for samples; 0: sources_open selects it, RING_MAX or
	 * RING_SMALL, or less if the kernel allows less */
	size_t ring_bytes;
	/* used if ring_bytes is 0: size in bytes of a ring that holds one second of samples; reduced to what the kernel
	 * allows */
	size_t ring_wanted;
	/* least size of such a ring in bytes, below which opening fails; 0 if ring_wanted is not used */
	size_t ring_least;
	/* true if the recorder may lock memory without limit */
	bool large;
	/* TARGET_COMMAND and TARGET_THREADS: open twins for sources_wake_each, too. Threads inherit events only at
	 * their start, so twins cannot be opened later. */
	bool twins;
};

/* Sizes of rings in bytes. The large ones hold the samples of some seconds with deep stacks, and the records
 * of many short processes. The small ones fit into kernel.perf_event_mlock_kb (516 kB), which every user may
 * lock for each CPU. */
#define RING_MAX ((size_t)1 << 20)
#define RING_STATE ((size_t)512 << 10)
#define RING_SMALL ((size_t)256 << 10)
#define RING_STATE_SMALL ((size_t)128 << 10)
#define RING_LEAST ((size_t)32 << 10)
#define RING_STACKS ((size_t)32 << 20) /* size limit of a ring for samples with stack copies */
#define RING_SWITCHES 4 /* size of a ring for switches, in rings for samples: each switch makes three records */

/* Describes why sources_open failed: the step, its errno and its arguments. */
struct sources_failure {
	enum { SOURCES_OPEN, SOURCES_MAP, SOURCES_CGROUP, SOURCES_PROCESS } step;
	int error;
	/* SOURCES_OPEN and SOURCES_MAP: attributes of the event */
	struct perf_event_attr attr;
	/* name of the event or cgroup; NULL if there is none */
	const char *what;
	enum target target;
	/* target process and CPU of the failed call; cpu is -1 if the call has no CPU */
	uint32_t pid;
	int cpu;
	/* SOURCES_MAP: size of all rings of one CPU in bytes; other steps: number of descriptors that the recording
	 * needs */
	uint64_t needed;
};

struct sources;

/* Opens all events, disabled, and adds their rings to `rings`, with the CPU as tag. Returns NULL and sets *why if an
 * event cannot be opened, or if fewer descriptors would remain than files of windows and /proc need; then nothing stays
 * open. */
struct sources *sources_open(const struct sources_options *options, struct rings *rings, struct sources_failure *why);
/* Enables all events. Those of TARGET_COMMAND start at the command's exec instead. */
void sources_enable(struct sources *sources);
/* Closes all events and frees the struct. Removes the rings, too. Accepts NULL. */
void sources_close(struct sources *sources);

/* Opens events on CPUs that came online and closes those of CPUs that went offline. Before a change it calls `drain`,
 * which takes the records out of the rings. Returns true if a CPU was added. */
bool sources_follow_cpus(struct sources *sources, void (*drain)(void *to), void *to);

/* Returns the number of times that an event was not opened on a CPU that came online, because it needs a right that the
 * recorder has dropped; its other events are recorded there. */
size_t sources_refused(const struct sources *sources);

/* Returns true if the CPUs online are others than those with events: code may run without records. */
bool sources_cpus_differ(const struct sources *sources);

/* Sets if each sample on a CPU wakes those who poll its ring, or a quarter of the ring does. An event cannot be changed
 * so: the first call opens a twin of each event that samples, which writes to the same ring, and later ones switch
 * between both. Returns false with errno if that is not possible; then nothing changes. */
bool sources_wake_each(struct sources *sources, uint32_t cpu, bool each);
/* Returns the numbers of the CPUs, *n of them, valid until the next call of sources_follow_cpus. */
const uint32_t *sources_cpu_list(const struct sources *sources, size_t *n);

/* Returns the attributes of the samples that wake a reader (sources_wake_each); NULL if no event has twins. */
const struct perf_event_attr *sources_format(const struct sources *sources);

/* Translates the kernel's id of an event to the index of the event: 1 for event[0], nevents + 1 for the state event,
 * nevents + 2 for switches. Returns 0 for an unknown id. */
uint64_t sources_event(const struct sources *sources, uint64_t id);

/* Returns the number of samples that the kernel has lost since the start, from the counters of the events, also of
 * those on CPUs that went offline, so it never falls; 0 if the kernel does not count them (before Linux 6.0). */
uint64_t sources_lost(struct sources *sources);

/* Return the number of CPUs and of open descriptors. */
size_t sources_cpus(const struct sources *sources);
size_t sources_fds(const struct sources *sources);
/* Returns true if kernel code is not sampled, for lack of permission. */
bool sources_without_kernel(const struct sources *sources);

/* Parses a list such as "0-3,8", the format of /sys/devices/system/cpu/online. Returns an array of *n CPU numbers, from
 * malloc. */
uint32_t *sources_parse_cpus(struct str string, size_t *n);

#endif
