/* SPDX-License-Identifier: Apache-2.0 */
/*
 * taskid.h - identifies the program and the user of a process, and checks them at each access to another process.
 *
 * A descriptor of /proc/PID (O_PATH) stays bound to its process, even if the PID is reused. But execve changes the
 * program and the credentials of a process: data of /proc/PID that were read before and after an execve may belong to
 * two programs, one of which is set-uid. So callers read the taskid first, and compare it after each step: the kernel
 * chooses start_code and start_stack at random for each exec. A program can set these two for itself (prctl
 * PR_SET_MM_MAP), but cannot guess those of the program that it will execute.
 *
 * The kernel lets only root access a process that is not dumpable: one that runs a set-uid, set-gid or unreadable file,
 * or one with file capabilities, or that changed its user since exec, or that forbade access (PR_SET_DUMPABLE). pj has
 * capabilities that override this, and shows the results to others, so this module refuses these processes itself. A
 * reader for root (TASKID_FOR_ROOT) may access them, but only if root asked for it (--interpreters=all): with the umask
 * of root, others can read the results, such as pictures.
 */
#ifndef PJ_TASKID_H
#define PJ_TASKID_H

#include "common/str.h"

#include <sys/types.h>

struct taskid {
	uint64_t start; /* start time of the process in clock ticks since boot */
	/* start_code: address of the program code, 1 if the kernel hides it from us; start_stack: address of the stack,
	 * 0 if the kernel hides it */
	uint64_t start_code, start_stack;
};

/* User and group of a process, as ids in the user namespace of this process. */
struct taskid_user {
	uid_t uid;
	gid_t gid;
};

enum taskid_answer {
	TASKID_SAME,    /* the process runs the program of the taskid, and its own user may read it */
	TASKID_GONE,    /* the process has ended, or runs another program */
	TASKID_PRIVATE, /* the user of the process may not read it: it is not dumpable, or acts for another user */
	TASKID_DENIED   /* this process may not read it, or has no free descriptor; errno has the reason */
};

/* Parses the text of /proc/PID/stat into *id. Sets *zombie to true if the process has ended. Returns false if the text
 * is malformed. Pure. */
bool taskid_parse(struct str stat, struct taskid *id, bool *zombie);

/* Returns the state of the task in the text of /proc/PID/stat, such as 'R': it runs or waits for a CPU. The text may be
 * cut after the state. Returns 0 if the text is malformed or empty. Pure. */
char taskid_state(struct str stat);

/* Reads the taskid of a process into *id; `process` is a descriptor of its /proc/PID. Returns false if the process has
 * ended (a zombie has, too), or if its stat cannot be read. */
bool taskid_read(int process, struct taskid *id);

/* Returns true if the process still runs the program of the taskid. */
bool taskid_is(int process, const struct taskid *id);

/* Checks that the process still runs the program of the taskid, and that its own user may read it. Sets *user to its
 * user if the result is TASKID_SAME. */
enum taskid_answer taskid_check(int process, const struct taskid *id, struct taskid_user *user);

/* Opens /proc/PID/mem of the process if taskid_check returns TASKID_SAME. Returns the result of taskid_check; if the
 * file cannot be opened, TASKID_GONE (ENOENT, ESRCH) or TASKID_DENIED with errno. Sets *fd to the descriptor, or to -1
 * if the result is not TASKID_SAME. */
enum taskid_answer taskid_open_memory(int process, const struct taskid *id, struct taskid_user *user, int *fd);

/* Users to whom the results are shown. */
enum taskid_reader {
	TASKID_FOR_USER, /* any user, such as the user of the process */
	TASKID_FOR_ROOT  /* root alone, and the users to whom root gives the results */
};

/* Returns TASKID_FOR_ROOT if real, effective and saved user id and group id of this process are 0, otherwise
 * TASKID_FOR_USER. A pj with file capabilities, set-uid or set-gid gets TASKID_FOR_USER, because it shows the results
 * to the user who started it. */
enum taskid_reader taskid_reader(void);

/* Like taskid_open_memory. With TASKID_FOR_ROOT, also opens the memory of a process that is not dumpable, if the kernel
 * allows it and the process acts for one user: a daemon that changed its user (PHP-FPM) does, a set-uid program may
 * not. */
enum taskid_answer taskid_open_memory_for(enum taskid_reader reader, int process, const struct taskid *id,
					  struct taskid_user *user, int *fd);

/* Parses user and group in the text of /proc/PID/status into *user. Returns false if real, effective and saved ids
 * differ, or if the text is malformed. Pure. */
bool taskid_parse_user(struct str status, struct taskid_user *user);

#endif
