/* SPDX-License-Identifier: Apache-2.0 */
/*
 * discover.h - finds the JVMs of this host: processes of all users that have a libjvm.so mapped, regardless of their
 * names.
 *
 * A process is represented by a descriptor of its directory in /proc. The descriptor remains bound to that process even
 * if the kernel reuses the pid. Within one boot, (pid, start) identifies a process.
 */
#ifndef PJ_DISCOVER_H
#define PJ_DISCOVER_H

#include "common/process/taskid.h"
#include "common/text.h"

#include <sys/types.h>

/* Kind of JVM in a process, by the files that it has mapped. */
enum jvm_kind {
	JVM_NONE,
	JVM_HOTSPOT,
	JVM_OPENJ9,
	JVM_ZING,
	/* unknown, because the mappings of the process are not readable */
	JVM_UNKNOWN,
	/* unknown, because the process's files in /proc do not respond in time (taskwait.h) */
	JVM_STALLED
};

/* The libjvm.so of a process: address of its first byte, device and inode, as in /proc/PID/maps. */
struct jvm_library {
	uint64_t base;
	uint32_t major, minor;
	uint64_t inode;
};

/* One process that may be a JVM. jvm_process_close closes folder and frees cgroup. */
struct jvm_process {
	/* O_PATH descriptor of /proc/PID */
	int folder;
	/* pid: PID in pj's PID namespace; inner: PID in the innermost PID namespace of the process */
	pid_t pid, inner;
	/* effective user id and group id; -1 if unknown */
	uid_t uid;
	gid_t gid;
	/* start time in clock ticks since boot */
	uint64_t start;
	/* Task identity, read before the mappings. If the process changes its program afterwards, hotspot_open_memory
	 * detects this. */
	struct taskid id;
	enum jvm_kind kind;
	struct jvm_library library;
	/* false for a zombie and for a process without mappings */
	bool alive;
	/* name of the main thread (/proc/PID/comm) without the line feed; hostile bytes */
	char comm[64];
	/* Path of the process's cgroup. If the process has paths in several hierarchies: preferably one with a
	 * container id. */
	struct text cgroup;
};

/* Numbers of processes that discover() found. */
struct discovery {
	/* number of live processes with memory of their own */
	unsigned processes;
	/* number of live processes whose mappings are not readable */
	unsigned forbidden;
	/* number of live processes that do not respond (taskwait.h) */
	unsigned stalled;
};

/* Searches proc (usually "/proc"), by ascending pid. Calls f for each JVM, and for each process named "java" whose
 * mappings are not readable. If f returns true, f owns *process; otherwise discover closes *process. Ends the
 * program if proc cannot be read. */
struct discovery discover(const char *proc, bool (*f)(void *arg, struct jvm_process *process), void *arg);

/* Fills *process for one pid, whether or not it is a JVM. Returns false if the process does not exist; then there is
 * nothing to close. */
bool discover_one(const char *proc, pid_t pid, struct jvm_process *process);

/* Like discover_one, for a process that may have become a JVM. Reads name, user and cgroup only if the process is a
 * JVM of a known kind. */
bool discover_candidate(const char *proc, pid_t pid, struct jvm_process *process);

/* Closes process->folder and frees process->cgroup. */
void jvm_process_close(struct jvm_process *process);

/* Returns the time since the process started, in ns. */
uint64_t jvm_process_age_ns(const struct jvm_process *process);

/* Returns true if the path of a mapped file names a libjvm.so. The path may end with " (deleted)". Pure. */
bool discover_is_libjvm(struct str path);

/* Returns the kind of JVM that the text of /proc/PID/maps shows. *lib is valid for JVM_HOTSPOT alone. Pure. */
enum jvm_kind discover_maps(struct str maps, struct jvm_library *lib);

#endif
