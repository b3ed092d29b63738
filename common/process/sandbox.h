/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sandbox.h - a helper process that parses hostile data gives up every right that it does not need.
 *
 * After sandbox_enter the process has no capability, no way to get one, no file system, no network, and only the system
 * calls of its groups: it works on the descriptors that an opener handed to it. A call outside of its groups ends the
 * process (SIGSYS), but openat, which fails with EPERM: malloc of glibc reads /proc/sys/vm/overcommit_memory when it
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

/* Groups of system calls: at most 25 for a helper process. The base (always allowed, 19) reads, writes and polls open
 * descriptors and manages memory, none of it executable. recv() and send() are recvfrom and sendto: such a process uses
 * recvmsg and sendmsg, or read and write. */
enum sandbox_group {
	SANDBOX_MESSAGES = 1, /* recvmsg, sendmsg: descriptors over a socket */
	SANDBOX_MEMFD = 2,    /* memfd_create, ftruncate, fcntl: results in sealed memory */
	SANDBOX_DEADLINE = 4, /* setitimer: sandbox_deadline */
	SANDBOX_OUTPUT = 16,  /* pwrite64, ftruncate: results in a file that the opener made */
	/* A filter such as pjfold, not a helper process: without getrandom, with tgkill of itself. A call outside of
	 * its groups fails with EPERM: a C library that tries one goes on without. */
	SANDBOX_FILTER = 8,
	SANDBOX_THREADS = 32, /* clone of threads, rseq, rt_sigprocmask, exit */
	/* An opener, which parses nothing: instead of the base a longer list. Reads any file, writes below `writable`;
	 * programs, sockets of a network, other processes are out of reach. Other calls fail with EPERM. */
	SANDBOX_OPENER = 64,
	/* An opener that reads below the root folders of other processes, in place of the base: opens files to read,
	 * copies them into memory. Without Landlock, which denies /proc/PID/root of every process outside of the
	 * caller's domain. Other calls fail with EPERM. */
	SANDBOX_ROOTS = 128,
	SANDBOX_FORK = 256 /* beside SANDBOX_ROOTS: forks processes, ends them, and hands them sockets */
};

struct sandbox {
	unsigned groups;
	uint64_t address_space; /* bytes, RLIMIT_AS; 0: no limit */
	uint64_t file_bytes; /* largest file that it may write, RLIMIT_FSIZE; 0: may not write files or memfds; filters,
				openers: no limit */
	unsigned files;      /* open descriptors, RLIMIT_NOFILE; 0: as they are */
	uid_t uid;           /* user and group to become where CAP_SETUID is held; 0: stay */
	const char *const
		*writable; /* of an opener: folders to write in, up to NULL; those that do not exist are passed over */
	bool keep_capabilities; /* of an opener */
};

enum sandbox_layer {
	SANDBOX_LIMITS = 1,
	SANDBOX_USER = 2,
	SANDBOX_LANDLOCK = 4,
	SANDBOX_CAPABILITIES = 8,
	SANDBOX_SECCOMP = 16
};

/* Returns the layers that could not be put in place, as bits of enum sandbox_layer: 0 if all are. SANDBOX_USER is
 * missing only if CAP_SETUID was held and the change failed. */
unsigned sandbox_enter(const struct sandbox *sandbox);

/* A process that forks helpers reports their missing layers once: sandbox_watch before the first fork, sandbox_reported
 * later returns the layers that any process that was forked since could not put in place. A helper reports in
 * sandbox_enter, through a page that it cannot reach afterwards. */
void sandbox_watch(void);
unsigned sandbox_reported(void);

/* Takes away the system calls outside of these groups from a process that entered a sandbox and kept prctl
 * (SANDBOX_FORK): for a child of it that needs fewer. Returns false if they stay. */
bool sandbox_narrow(unsigned groups);

/* Returns the number of system calls that these groups allow, without those of the run time of sanitizers. */
unsigned sandbox_calls(unsigned groups);

/* The first missing layer for a message: "Landlock", "seccomp"; NULL if missing is 0. */
const char *sandbox_missing(unsigned missing);

/* Warns of missing layers in one line with advice, of each layer once. Does nothing if the environment variable
 * SANDBOX_REPORTED is set: a tool that starts others often warns itself, and sets it for them. */
#define SANDBOX_REPORTED "PJ_SANDBOX_REPORTED"
void sandbox_warn(unsigned missing);

/* Returns the layers that a child of the caller cannot put in place; the caller keeps its rights. */
unsigned sandbox_probe(void);

/* The process ends (SIGPROF) once it has used so many ms of CPU time from now on; 0 takes the limit away. Needs
 * SANDBOX_DEADLINE. */
void sandbox_deadline(unsigned cpu_ms);

#endif
