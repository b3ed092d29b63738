/* SPDX-License-Identifier: Apache-2.0 */
/*
 * discover.h - finds the JVMs of this host: processes of all users that have a libjvm.so mapped, whatever their name.
 *
 * A process is represented by a descriptor of its directory in /proc. The descriptor remains bound to the process when
 * the kernel reuses the pid. Together with the boot, (pid, start) identifies a process for good.
 */
#ifndef PJ_DISCOVER_H
#define PJ_DISCOVER_H

#include "common/process/taskid.h"
#include "common/text.h"

#include <sys/types.h>

/* Kind of a process, by the files that it has mapped. */
enum jvm_kind {
	JVM_NONE,
	JVM_HOTSPOT,
	JVM_OPENJ9,
	JVM_ZING,
	/* its mappings are not readable */
	JVM_UNKNOWN,
	/* its files in /proc do not respond in time (taskwait.h) */
	JVM_STALLED
};

/* The libjvm.so of a process: the address of its first byte, and device and inode as in /proc/PID/maps. */
struct jvm_library {
	uint64_t base;
	uint32_t major, minor;
	uint64_t inode;
};

/* One process. jvm_process_close closes folder and frees cgroup. */
struct jvm_process {
	/* O_PATH descriptor of /proc/PID */
	int folder;
	/* pid in pj's PID namespace and in the process's own */
	pid_t pid, inner;
	/* effective user and group; -1 if unknown */
	uid_t uid;
	gid_t gid;
	/* start time in clock ticks since boot */
	uint64_t start;
	/* Program whose mappings were read, or an earlier one: hotspot_open_memory checks it. */
	struct taskid id;
	enum jvm_kind kind;
	struct jvm_library library;
	/* false for a zombie and for a process without mappings */
	bool alive;
	/* name of the main thread, without the line feed; hostile bytes */
	char comm[64];
	/* Path of its cgroup. Of several hierarchies, the path that contains the id of the innermost container. */
	struct text cgroup;
};

/* Counts of a search. */
struct discovery {
	/* processes with memory of their own */
	unsigned processes;
	/* of these, processes whose mappings are not readable */
	unsigned forbidden;
	/* of these, processes that do not respond (taskwait.h) */
	unsigned stalled;
};

/* Searches proc (usually "/proc") and calls f for each JVM, by ascending pid. f also gets processes named "java"
 * whose mappings are not readable. f owns *process if it returns true; otherwise discover closes it. Ends the
 * program if proc cannot be read. */
struct discovery discover(const char *proc, bool (*f)(void *arg, struct jvm_process *process), void *arg);

/* Fills *process for one pid, also if it is no JVM. Returns false if the process does not exist; nothing needs
 * closing then. */
bool discover_one(const char *proc, pid_t pid, struct jvm_process *process);

/* Like discover_one, for a process that may have become a JVM: comm, user and cgroup are read only if it is a JVM. */
bool discover_candidate(const char *proc, pid_t pid, struct jvm_process *process);

/* Closes process->folder and frees process->cgroup. */
void jvm_process_close(struct jvm_process *process);

/* Returns the time since the process started, in ns. */
uint64_t jvm_process_age_ns(const struct jvm_process *process);

/* Returns true if the path of a mapped file names a libjvm.so. The path may end with " (deleted)". Pure. */
bool discover_is_libjvm(struct str path);

/* Returns the kind of JVM that the text of /proc/PID/maps shows; *lib is set for HotSpot. Pure. */
enum jvm_kind discover_maps(struct str maps, struct jvm_library *lib);

#endif
