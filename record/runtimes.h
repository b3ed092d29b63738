/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtimes.h - the processes of this host that make code at run time, and what they lack for their frames to have
 * names.
 *
 * A JVM is known by libjvm.so among its mappings, other JITs by executable memory that is no file's. Their files
 * (options, maps) are opened by a child process, inside their root: a file system that does not answer stops the child
 * only. After RUNTIMES_STALL_MS the child is left behind with that process, and another one goes on with the next.
 */
#ifndef PJ_RUNTIMES_H
#define PJ_RUNTIMES_H

#include "common/str.h"

#include <sys/types.h>

struct runtime {
	pid_t pid, inner_pid; /* inner: in its own PID namespace */
	char comm[40];
	char main[100]; /* JVM: class or jar */
	bool jvm;
	bool frame_pointers; /* JVM: -XX:+PreserveFramePointer */
	bool is_requested;   /* JVM: its command line could be read, */
	bool readable;       /* and its memory can */
	bool map;            /* it has a perf-PID.map, or a jitdump */
	uint64_t code;       /* bytes of executable memory without a file */
};

struct runtimes_count {
	unsigned processes; /* with memory of their own, so without kernel threads */
	unsigned forbidden; /* of these, whose mappings may not be read */
	unsigned stalled;   /* whose files or memory did not answer in time */
};

#define RUNTIMES_STALL_MS 2000
#define RUNTIMES_STALLS_MAX 5 /* then the rest is left out */

#define RUNTIME_CODE (64 * 1024) /* less is a trampoline, no compiler */

struct runtimes_count runtimes_each(void (*f)(void *arg, const struct runtime *runtime), void *arg);

/* What /proc/PID/maps says: sets jvm, map (a jitdump) and code. Pure. */
void runtime_maps(struct runtime *runtime, struct str maps);

/* How to make a process of that comm write a map, or NULL. */
const char *runtime_advice(const char *comm);

#endif
