/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtimes.h - processes of this host that generate code, and what they lack for named and complete stacks.
 *
 * A process with libjvm.so among its mappings is a JVM; one with at least RUNTIME_CODE bytes of executable memory
 * without a file has another JIT. A helper process opens their files (options, maps) inside their root directory, so
 * a file system that does not respond stops only the helper. After RUNTIMES_STALL_MS the helper is killed and that
 * process is skipped; another helper continues with the next process.
 */
#ifndef PJ_RUNTIMES_H
#define PJ_RUNTIMES_H

#include "common/str.h"

#include <sys/types.h>

/* One process that generates code. Strings are truncated to their arrays. */
struct runtime {
	/* inner_pid: pid in its own PID namespace */
	pid_t pid, inner_pid;
	char comm[40];
	/* JVM: main class or jar */
	char main[100];
	bool jvm;
	/* JVM: -XX:+PreserveFramePointer is in force */
	bool frame_pointers;
	/* JVM: its command line and environment can be read */
	bool options_readable;
	/* JVM: its memory can be read */
	bool readable;
	/* it has a perf map or a jitdump */
	bool map;
	/* bytes of executable memory that no file backs */
	uint64_t code;
};

/* Counts of a survey. */
struct runtimes_count {
	/* processes with user memory, so without kernel threads */
	unsigned processes;
	/* processes, of `processes`, whose mappings may not be read */
	unsigned forbidden;
	/* processes whose files or memory did not respond in time */
	unsigned stalled;
};

#define RUNTIMES_STALL_MS 2000
/* the survey ends after so many stalls */
#define RUNTIMES_STALLS_MAX 5

/* bytes; a process with less has trampolines, not a JIT */
#define RUNTIME_CODE (64 * 1024)

/* Examines all processes of the host except this one and its helpers. Calls f in this process for each JVM and each
 * process with a JIT; the struct is valid during the call. Returns the counts. */
struct runtimes_count runtimes_each(void (*f)(void *arg, const struct runtime *runtime), void *arg);

/* Parses the text of /proc/PID/maps: sets jvm, map (true for a jitdump) and code. Pure. */
void runtime_maps(struct runtime *runtime, struct str maps);

/* Returns the advice how a process with that comm writes a perf map, or NULL if none is known. */
const char *runtime_advice(const char *comm);

#endif
