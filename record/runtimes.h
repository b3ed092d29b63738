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
	/* pid of the process, on the host and in its own PID namespace */
	pid_t pid, inner_pid;
	char comm[40];
	/* for a JVM: its main class or jar */
	char main[100];
	bool jvm;
	/* for a JVM: true if -XX:+PreserveFramePointer is in force */
	bool frame_pointers;
	/* for a JVM: true if its command line and environment can be read */
	bool options_readable;
	/* for a JVM: true if its memory can be read */
	bool readable;
	/* true: the process has a perf map or a jitdump */
	bool map;
	/* bytes of executable memory of the process that no file backs */
	uint64_t code;
};

/* Counts of a survey of all processes. */
struct runtimes_count {
	/* number of processes, without kernel threads */
	unsigned processes;
	/* number of processes whose mappings may not be read */
	unsigned forbidden;
	/* number of processes whose files or memory did not respond in time */
	unsigned stalled;
};

#define RUNTIMES_STALL_MS 2000
/* number of stalls after which the survey ends */
#define RUNTIMES_STALLS_MAX 5

/* bytes of executable memory without a file that indicate a JIT; less are trampolines */
#define RUNTIME_CODE (64 * 1024)

/* Examines all processes of the host except this one and its helpers. Calls f in this process for each JVM and each
 * process with another JIT; *runtime is valid during the call. Returns the counts of the survey. */
struct runtimes_count runtimes_each(void (*f)(void *arg, const struct runtime *runtime), void *arg);

/* Parses the text of /proc/PID/maps: sets jvm, map (true for a jitdump) and code of *runtime. Does no input or
 * output. */
void runtime_maps(struct runtime *runtime, struct str maps);

/* Returns the advice that makes processes with this comm write a perf map; NULL if none is known. */
const char *runtime_advice(const char *comm);

#endif
