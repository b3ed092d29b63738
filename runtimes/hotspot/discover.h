/* SPDX-License-Identifier: Apache-2.0 */
/*
 * discover.h - the JVMs of this host: processes that have a libjvm.so mapped, whatever they are called, whoever runs
 * them.
 *
 * A process is a descriptor of its folder in /proc, which stays that of this process when its number is given to
 * another one; with the boot, (pid, start) names it for good.
 */
#ifndef PJ_DISCOVER_H
#define PJ_DISCOVER_H

#include "common/process/taskid.h"
#include "common/text.h"

#include <sys/types.h>

enum jvm_kind {
	JVM_NONE,
	JVM_HOTSPOT,
	JVM_OPENJ9,
	JVM_ZING,
	JVM_UNKNOWN, /* its mappings cannot be read */
	JVM_STALLED  /* its files in /proc do not answer in time (taskwait.h) */
};

/* The libjvm.so of a process: where its first byte is mapped, and which file it is, as /proc/PID/maps numbers it. */
struct jvm_library {
	uint64_t base;
	uint32_t major, minor;
	uint64_t inode;
};

struct jvm_process {
	int folder;       /* /proc/PID, of O_PATH */
	pid_t pid, inner; /* inner: in its own PID namespace */
	uid_t uid;        /* effective */
	gid_t gid;
	uint64_t start; /* clock ticks since boot */
	struct taskid
		id; /* the program that its mappings were read of, or an older one: checked by hotspot_open_memory */
	enum jvm_kind kind;
	struct jvm_library library;
	bool alive; /* no zombie */
	char comm[64];
	struct text cgroup; /* its path; of hierarchies that have one, the innermost container's */
};

struct discovery {
	unsigned processes; /* with memory of their own */
	unsigned forbidden; /* of these, whose mappings may not be read */
	unsigned stalled;   /* of these, which do not answer (taskwait.h) */
};

/* Calls f for each JVM, by pid. f owns what is passed on true. java: also processes called java whose mappings may
 * not be read. */
struct discovery discover(const char *proc, bool (*f)(void *arg, struct jvm_process *process), void *arg);

/* One process, whatever it is; false: it is gone. */
bool discover_one(const char *proc, pid_t pid, struct jvm_process *process);

/* The same for a process that may have become a JVM: comm, user and cgroup are read only if it is one. */
bool discover_candidate(const char *proc, pid_t pid, struct jvm_process *process);

void jvm_process_close(struct jvm_process *process);

/* How long it has been there. */
uint64_t jvm_process_age_ns(const struct jvm_process *process);

/* The path of a mapped file; " (deleted)" may be behind it. Pure. */
bool discover_is_libjvm(struct str path);

/* Returns the kind of JVM that the text of /proc/PID/maps shows; *lib is set for HotSpot. Pure. */
enum jvm_kind discover_maps(struct str maps, struct jvm_library *lib);

#endif
