/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtimes.h - finds the processes of this host that generate code, and checks the conditions for named frames and
 * complete stacks.
 *
 * A process that maps libjvm.so is a JVM. Another process with at least RUNTIME_CODE bytes of executable memory without
 * a file has another JIT compiler. A helper process opens the files of each process (options, maps) inside the
 * process's root directory, so a file system that does not respond blocks only the helper. If a process takes longer
 * than RUNTIMES_STALL_MS, the helper is killed and that process is skipped; another helper continues with the next
 * process.
 */
#ifndef PJ_RUNTIMES_H
#define PJ_RUNTIMES_H

#include "common/str.h"

#include <sys/types.h>

/* A process that generates code. Strings are truncated to the size of their arrays. */
struct runtime {
	/* pid: on the host. inner_pid: in the process's own PID namespace. */
	pid_t pid, inner_pid;
	char comm[40];
	/* for a JVM: its main class, jar or module; "" if unknown */
	char main[100];
	/* jvm: true: the process is a JVM. node: true: it maps a file of node, whose functions V8 compiles. Both false:
	 * it has another JIT compiler. */
	bool jvm, node;
	/* for a JVM: true: -XX:+PreserveFramePointer is in effect */
	bool frame_pointers;
	/* for a JVM: true: its command line and environment can be read */
	bool options_readable;
	/* for a JVM: true: its memory can be read, so that its stacks can be unwound by tables */
	bool readable;
	/* true: the process has a perf map or a jitdump */
	bool map;
	/* bytes of the process's executable memory without a file */
	uint64_t code;
};

/* Counts of a survey of all processes. */
struct runtimes_count {
	/* number of processes, except kernel threads */
	unsigned processes;
	/* number of processes whose mappings the recorder may not read */
	unsigned forbidden;
	/* number of processes that did not respond in time, and were skipped */
	unsigned stalled;
};

/* maximum time in ms for examining one process; then it is skipped */
#define RUNTIMES_STALL_MS 2000
/* number of skipped processes after which the survey ends, without the remaining processes */
#define RUNTIMES_STALLS_MAX 5

/* minimum bytes of executable memory without a file for which a process is assumed to have a JIT compiler; less may be
 * trampolines */
#define RUNTIME_CODE (64 * 1024)

/* Examines all processes of the host except this one and its helpers. Calls f, in this process, for each process that
 * generates code; *runtime is valid during the call; arg is its first argument. Returns the counts of the survey. */
struct runtimes_count runtimes_each(void (*f)(void *arg, const struct runtime *runtime), void *arg);

/* Parses the content of /proc/PID/maps. Sets runtime->jvm (a libjvm.so is mapped), runtime->node (a file of node is
 * mapped) and runtime->map (a jitdump is mapped), and adds the bytes of executable memory without a file to
 * runtime->code. Does no input or output. */
void runtime_maps(struct runtime *runtime, struct str maps);

/* Returns how to make processes with this name write a perf map, as static text; NULL if that is unknown. */
const char *runtime_advice(const char *comm);

#endif
