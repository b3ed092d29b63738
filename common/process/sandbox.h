/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sandbox.h - a helper process that parses hostile data gives up every right that it does not need.
 *
 * After sandbox_enter the process has no capability, no way to get one, no file system, no network, and only the system
 * calls of its groups: it works on the descriptors that an opener handed to it. A call outside of its groups ends the
 * process (SIGSYS); only openat fails with EPERM instead: malloc of glibc reads /proc/sys/vm/overcommit_memory when it
 * shrinks the heap of a thread, also in a child of that thread, and goes on without it. Each layer stands alone: a
 * kernel without one of them keeps the others, and the caller reports the missing layer once.
 *
 * Layers, in this order: resource limits, another user (where CAP_SETUID is held), Landlock, capabilities,
 * no_new_privs, seccomp. To be called by a process with one thread; threads that it starts later inherit everything.
 */
#ifndef PJ_SANDBOX_H
#define PJ_SANDBOX_H

#include "common/base.h"

#include <sys/types.h>

/* Groups of system calls; a helper process has at most 26 calls. The base, 20 calls that are allowed in all groups but
 * SANDBOX_ROOTS, reads, writes and polls open descriptors and manages memory that is not executable. It has no recvfrom
 * and sendto, which libc's recv() and send() call: use recvmsg and sendmsg, or read and write. */
enum sandbox_group {
	SANDBOX_MESSAGES = 1, /* recvmsg, sendmsg: to pass descriptors over a socket */
	SANDBOX_DEADLINE = 4, /* setitimer: for sandbox_deadline */
	SANDBOX_OUTPUT = 16,  /* pwrite64, ftruncate: for results in a file that the opener created */
	/* For a filter such as pjfold, which is no helper process: adds tgkill of itself, removes getrandom. Other
	 * calls fail with EPERM, and C libraries that try one continue without it. */
	SANDBOX_FILTER = 8,
	SANDBOX_THREADS = 32, /* clone of threads, rseq, rt_sigprocmask, exit */
	/* For an opener, which parses nothing: a longer list than the base. It can read any file and write below
	 * `writable`, but not start programs, use a network or access other processes. Other calls fail with EPERM. */
	SANDBOX_OPENER = 64,
	/* For an opener that reads below the root folders of other processes, in place of the base: it opens files for
	 * reading and copies them into memory. Landlock is left out, since it denies /proc/PID/root of every process
	 * outside of the caller's domain. Other calls fail with EPERM. */
	SANDBOX_ROOTS = 128,
	/* For a process that reads memory of others (process_vm_readv) and sleeps in between. Landlock is left out,
	 * since it denies that for every process outside of the caller's domain. */
	SANDBOX_READER = 512,
	SANDBOX_FORK = 256 /* in addition to SANDBOX_ROOTS: to fork processes, end them, and send them sockets */
};

struct sandbox {
	unsigned groups;
	uint64_t address_space; /* limit for the address space in bytes (RLIMIT_AS); 0: no limit */
	/* Largest file that it may write, in bytes (RLIMIT_FSIZE); 0: it cannot write to files or memfds. Filters and
	 * openers have no such limit. */
	uint64_t file_bytes;
	unsigned files; /* limit for open descriptors (RLIMIT_NOFILE); 0: unchanged */
	uid_t uid;      /* user and group to change to if CAP_SETUID and CAP_SETGID are held; 0: no change */
	/* folders and files that Landlock lets it write to, with NULL at the end; missing ones are skipped */
	const char *const *writable;
	bool keep_capabilities; /* true for openers: it keeps its capabilities */
};

enum sandbox_layer {
	SANDBOX_LIMITS = 1,
	SANDBOX_USER = 2,
	SANDBOX_LANDLOCK = 4,
	SANDBOX_CAPABILITIES = 8,
	SANDBOX_SECCOMP = 16
};

/* Enters the sandbox. Returns the layers that could not be set up, as bits of enum sandbox_layer; 0 if all are.
 * SANDBOX_USER is missing only if the change of the user failed, not if CAP_SETUID was missing. */
unsigned sandbox_enter(const struct sandbox *sandbox);

/* For a process that forks helpers and reports their missing layers once: it calls sandbox_watch before the first fork.
 * sandbox_reported returns the layers that were missing in any process forked since. A helper reports them in
 * sandbox_enter, through a page that it unmaps then. */
void sandbox_watch(void);
unsigned sandbox_reported(void);

/* Limits this process to the system calls of these groups: for a child of a process that entered a sandbox with
 * SANDBOX_FORK and needs fewer calls. Returns false on failure. */
bool sandbox_narrow(unsigned groups);

/* Returns the number of system calls that these groups allow, without those for sanitizers. */
unsigned sandbox_calls(unsigned groups);

/* Returns the name of the first missing layer for messages, such as "Landlock" or "seccomp"; NULL if missing is 0. */
const char *sandbox_missing(unsigned missing);

/* Warns of missing layers in one line with advice, once for each layer. Does nothing if the environment variable
 * SANDBOX_REPORTED is set: a tool that starts other tools often warns itself, and sets the variable for them. */
#define SANDBOX_REPORTED "PJ_SANDBOX_REPORTED"
void sandbox_warn(unsigned missing);

/* Enters a sandbox in a child process to find out which layers are missing, and returns these. This process keeps its
 * rights. */
unsigned sandbox_probe(void);

/* Makes the kernel end this process with SIGPROF once it has used cpu_ms more ms of CPU time; 0 cancels that. Needs
 * SANDBOX_DEADLINE. */
void sandbox_deadline(unsigned cpu_ms);

#endif
