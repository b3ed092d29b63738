/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sandbox.h - makes a process give up every right that it does not need, before it parses hostile input.
 *
 * After sandbox_enter a parser has no capability and no way to get one, no file system, no network, and only the system
 * calls of its groups. It works on descriptors that an opener hands to it. Any other system call kills the parser
 * (SIGSYS), with one exception: openat fails with EPERM, because malloc of glibc reads /proc/sys/vm/overcommit_memory
 * when it shrinks the heap of a thread (also in a forked child of that thread), and works without it. Filters and
 * openers have more rights, and their forbidden calls fail with EPERM (enum sandbox_group). The layers are independent:
 * if the kernel lacks one, the others are active, and the caller reports the missing one once.
 *
 * Layers, in this order: resource limits, another user (with CAP_SETUID), no_new_privs, Landlock, capabilities,
 * seccomp. Must be called while the process has one thread; later threads inherit everything.
 */
#ifndef PJ_SANDBOX_H
#define PJ_SANDBOX_H

#include "common/base.h"

#include <sys/types.h>

/* Groups of system calls. A parser has at most 26 calls. All groups except SANDBOX_ROOTS include the base of 20 calls,
 * which read, write and poll open descriptors, and manage memory that is not executable. The base lacks recvfrom and
 * sendto, which recv() and send() of libc call: use recvmsg and sendmsg, or read and write. */
enum sandbox_group {
	SANDBOX_MESSAGES = 1, /* recvmsg, sendmsg: passes descriptors over a socket */
	SANDBOX_DEADLINE = 4, /* setitimer: needed by sandbox_deadline */
	SANDBOX_OUTPUT = 16,  /* pwrite64, ftruncate: writes results into a file that the opener created */
	/* For a filter such as pjfold, which is no helper process: tgkill of the process itself, and no getrandom.
	 * Other calls fail with EPERM instead of killing the process; C libraries that try such a call work without
	 * it. */
	SANDBOX_FILTER = 8,
	SANDBOX_THREADS = 32, /* clone (threads only), rseq, rt_sigprocmask, exit: starts threads */
	/* For an opener, which parses nothing: many calls in addition to the base. It can open any file for reading,
	 * and write below `writable`, but it cannot start programs, use a network or access other processes. Other
	 * calls fail with EPERM. */
	SANDBOX_OPENER = 64,
	/* For an opener that reads below the root folders of other processes, in place of the base: opens files for
	 * reading and copies them into memory. Without Landlock, which would deny access to /proc/PID/root of all
	 * processes outside of the caller's domain. Other calls fail with EPERM. */
	SANDBOX_ROOTS = 128,
	/* For a process that reads the memory of others (process_vm_readv) and sleeps in between. Without Landlock,
	 * which would deny such reads for all processes outside of the caller's domain. */
	SANDBOX_READER = 512,
	SANDBOX_FORK = 256 /* in addition to SANDBOX_ROOTS: forks processes, kills them, and sends them sockets */
};

struct sandbox {
	unsigned groups;
	uint64_t address_space; /* limit for the address space in bytes (RLIMIT_AS); 0: unchanged */
	/* Limit for the size of files that the process writes, in bytes (RLIMIT_FSIZE); 0: it cannot write to files or
	 * memfds. Without effect for filters and openers. */
	uint64_t file_bytes;
	unsigned files; /* limit for open descriptors (RLIMIT_NOFILE); 0: unchanged */
	uid_t uid; /* user and group that the process changes to if it has CAP_SETUID and CAP_SETGID; 0: unchanged */
	/* folders and files that the process may write to (Landlock), with NULL at the end; missing ones are skipped */
	const char *const *writable;
	bool keep_capabilities; /* true: the process keeps its capabilities, as openers do */
};

enum sandbox_layer {
	SANDBOX_LIMITS = 1,
	SANDBOX_USER = 2,
	SANDBOX_LANDLOCK = 4,
	SANDBOX_CAPABILITIES = 8,
	SANDBOX_SECCOMP = 16
};

/* Enters the sandbox. Returns the layers that could not be set up, as bits of enum sandbox_layer; 0 if all are active.
 * A missing CAP_SETUID is not reported as a missing SANDBOX_USER, only a failed change of the user is. */
unsigned sandbox_enter(const struct sandbox *sandbox);

/* For a process that forks helpers and reports their missing layers once. Such a process calls sandbox_watch before the
 * first fork. sandbox_reported then returns the layers that were missing in any process forked since. Helpers report
 * them in sandbox_enter, through a shared page that they unmap afterwards. */
void sandbox_watch(void);
unsigned sandbox_reported(void);

/* Limits this process further, to the system calls of `groups`: for a child of a process that entered a sandbox with
 * SANDBOX_FORK. Returns false on failure. */
bool sandbox_narrow(unsigned groups);

/* Returns the number of system calls that `groups` allow. Calls that only sanitizers need do not count. */
unsigned sandbox_calls(unsigned groups);

/* Returns the name of the first layer in `missing` for messages, such as "Landlock" or "seccomp"; NULL if missing is
 * 0. */
const char *sandbox_missing(unsigned missing);

/* Warns of missing layers in one line with advice, once for each layer. Prints nothing if the environment variable
 * SANDBOX_REPORTED is set: a tool that starts other tools often prints the warning itself, and sets this variable for
 * them. */
#define SANDBOX_REPORTED "PJ_SANDBOX_REPORTED"
void sandbox_warn(unsigned missing);

/* Returns the layers that are missing on this machine. Finds out by entering a sandbox in a child process, so this
 * process keeps its rights. Returns 0 if the child cannot be started or is killed. */
unsigned sandbox_probe(void);

/* Makes the kernel end this process with SIGPROF after another cpu_ms ms of CPU time; 0 cancels this. Needs
 * SANDBOX_DEADLINE. */
void sandbox_deadline(unsigned cpu_ms);

#endif
