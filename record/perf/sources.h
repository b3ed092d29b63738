/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sources.h - opens the events of a recording on every CPU.
 *
 * Each CPU has a ring for samples, a smaller ring for side-band records, so that a flood of samples cannot make the
 * kernel drop these, and, for off-CPU times, a ring for context switches. The kernel may not support all requested
 * features, and the user may not have the right to them. So sources_open removes refused features step by step from the
 * attributes of the caller; sources_without_kernel returns true if the sampling of kernel code was removed. Samples
 * carry the kernel's event ids. sources_event translates such an id to the index of the event, which is the same in
 * every window, also on CPUs that come and go.
 */
#ifndef PJ_SOURCES_H
#define PJ_SOURCES_H

#include "record/perf/chunk.h"
#include "record/perf/rings.h"

#include <sys/types.h>

/* Selects the processes and threads for which events are opened. */
enum target {
	TARGET_HOST, /* events of all processes on all CPUs */
	/* events of all processes on all CPUs; the recorder drops samples of processes that are no targets */
	TARGET_PROCESSES,
	/* events of each thread of the target processes on each CPU, for users who may not open CPU-wide events */
	TARGET_THREADS,
	TARGET_CGROUPS,
	/* events of a child that has not called exec yet, and of its children; the events start at the exec */
	TARGET_COMMAND
};

/* Options of sources_open. Pointers must stay valid until sources_close. */
struct sources_options {
	enum target target;
	/* TARGET_PROCESSES and TARGET_THREADS: target processes; TARGET_COMMAND: the one child */
	const uint32_t *pid;
	size_t npids;
	/* TARGET_CGROUPS: paths of the cgroup directories */
	char *const *cgroup;
	size_t ncgroups;
	/* sampled events; sources_open removes refused features from their attributes */
	struct chunk_event *event;
	size_t nevents;
	/* attributes of the event that carries process state */
	struct perf_event_attr *state;
	/* attributes of the event that reports context switches; NULL for none */
	struct perf_event_attr *switches;
	/* size of a ring for samples that the user demands, in bytes; 0: sources_open selects RING_MAX or RING_SMALL,
	 * or less if the kernel allows less */
	size_t ring_bytes;
	/* size of a ring that holds one second of samples, in bytes; used if ring_bytes is 0, and reduced to the size
	 * that the kernel allows */
	size_t ring_wanted;
	/* Minimum size of a ring for samples in bytes: sources_open fails if the kernel allows only smaller ones. 0 if
	 * ring_wanted is not used. */
	size_t ring_least;
	/* true if the recorder may lock memory without limit: rings then have RING_MAX and RING_STATE bytes instead of
	 * RING_SMALL and RING_STATE_SMALL */
	bool large;
	/* TARGET_COMMAND and TARGET_THREADS: true if sources_open also opens the twins for sources_wake_each. Threads
	 * inherit events only at their start, so twins cannot be opened later. */
	bool twins;
};

/* Sizes of rings in bytes. RING_MAX (samples) and RING_STATE hold the samples of some seconds with deep stacks, and the
 * records of many short processes. RING_SMALL (samples) and RING_STATE_SMALL fit into kernel.perf_event_mlock_kb (516
 * kB), which every user may lock for each CPU. RING_LEAST is the size below which no ring is halved. */
#define RING_MAX ((size_t)1 << 20)
#define RING_STATE ((size_t)512 << 10)
#define RING_SMALL ((size_t)256 << 10)
#define RING_STATE_SMALL ((size_t)128 << 10)
#define RING_LEAST ((size_t)32 << 10)
#define RING_STACKS ((size_t)32 << 20) /* maximum size of a ring for samples with stack copies, in bytes */
/* size of a ring for switches, as a multiple of a ring for samples: a switch makes three records */
#define RING_SWITCHES 4

/* Reason why sources_open failed: the step, its errno and its arguments. */
struct sources_failure {
	enum { SOURCES_OPEN, SOURCES_MAP, SOURCES_CGROUP, SOURCES_PROCESS } step;
	int error;
	/* SOURCES_OPEN and SOURCES_MAP: attributes of the event; zeros if no event failed, but descriptors are
	 * lacking */
	struct perf_event_attr attr;
	/* name of the event or cgroup; NULL if there is none */
	const char *what;
	enum target target;
	/* pid: target process (SOURCES_PROCESS), or argument pid of perf_event_open; 0 for other steps. cpu: CPU of the
	 * failed call; -1 if it has none */
	uint32_t pid;
	int cpu;
	/* SOURCES_MAP: size of all rings of one CPU in bytes; SOURCES_OPEN: number of descriptors that the recording
	 * needs; other steps: 0 */
	uint64_t needed;
};

struct sources;

/* Opens all events, disabled, and adds their rings to `rings`, with the CPU as tag. Returns NULL and sets *why if an
 * event cannot be opened, or if too few descriptors would remain for the files of windows and of /proc; then nothing
 * stays open. The caller frees the result with sources_close. */
struct sources *sources_open(const struct sources_options *options, struct rings *rings, struct sources_failure *why);
/* Enables all events. Events of TARGET_COMMAND start at the command's exec instead. */
void sources_enable(struct sources *sources);
/* Closes all events, removes their rings and frees the struct. Accepts NULL. */
void sources_close(struct sources *sources);

/* Opens events on CPUs that came online and closes the events of CPUs that went offline. Opens events again that the
 * kernel has detached, because their CPU was offline since the previous call (detached.h). Before it closes events,
 * calls `drain`, which must take the records out of the rings. Returns true if a CPU was added or opened again. */
bool sources_follow_cpus(struct sources *sources, void (*drain)(void *to), void *to);

/* Returns the number of times that the events of a CPU were opened again because the kernel had detached them. */
uint64_t sources_reopened(const struct sources *sources);

/* Returns the errno with which the kernel refused the events of a CPU that is online, in the last sources_follow_cpus,
 * such as EACCES where the recorder has dropped a right that the kernel requires. Returns 0 if all CPUs have events. */
int sources_unopened(const struct sources *sources);

/* Returns the number of times that an event was not opened on a CPU that came online, because it needs a right that the
 * recorder has dropped. The other events are recorded on that CPU. */
size_t sources_refused(const struct sources *sources);

/* Returns true if a breakpoint of java:alloc was not opened on a CPU, because the libjvm.so has changed since that
 * breakpoint was tested. All other events are recorded. */
bool sources_changed(const struct sources *sources);

/* Returns true if the set of online CPUs differs from the set of CPUs with events, or if the machine was suspended
 * since the last sources_follow_cpus. Then code may run on a CPU whose samples and side-band records are missing.
 * Returns false for a CPU that was offline only between two calls, although its events are detached:
 * sources_follow_cpus finds it. */
bool sources_cpus_differ(const struct sources *sources);

/* Sets on which samples of a CPU the kernel wakes the readers of its ring: on each sample (each true), or when a
 * quarter of the ring is full (each false). The kernel cannot change this for an open event. So the first call for the
 * CPU opens twins of the events that are sampled by frequency and have stack copies (sources_options.twins:
 * sources_open did that already); a twin writes to the ring of its event. Later calls switch between the events and
 * their twins. Returns false with errno, and changes nothing, if `each` is true, the CPU has no twins and none can be
 * opened. */
bool sources_wake_each(struct sources *sources, uint32_t cpu, bool each);
/* Returns the numbers of the CPUs with events and sets *n to their number. Valid until the next sources_follow_cpus. */
const uint32_t *sources_cpu_list(const struct sources *sources, size_t *n);

/* Returns the attributes of the first event that gets a twin (sources_wake_each). They give the format of the samples
 * that wake a reader at once. Returns NULL if no event gets a twin. */
const struct perf_event_attr *sources_format(const struct sources *sources);

/* Returns the index of an event from the kernel's id: 1 for event[0], nevents + 1 for the state event, nevents + 2 for
 * context switches; 0 for an unknown id. */
uint64_t sources_event(const struct sources *sources, uint64_t id);

/* Returns the number of samples that the kernel has lost since the start, from the counters of all events, including
 * events of CPUs that went offline; so it never decreases. Returns 0 if the kernel does not count lost samples (before
 * Linux 6.0). */
uint64_t sources_lost(struct sources *sources);

/* Returns the number of CPUs with events. */
size_t sources_cpus(const struct sources *sources);
/* Returns true if kernel code is not sampled because permission is missing. */
bool sources_without_kernel(const struct sources *sources);

#endif
