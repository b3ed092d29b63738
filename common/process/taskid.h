/* SPDX-License-Identifier: Apache-2.0 */
/*
 * taskid.h - identifies the program and the user of a process, and checks them before each access to another process.
 *
 * A descriptor of /proc/PID (O_PATH) stays bound to its process when the PID is given to another one. But a process
 * changes its program and its credentials with execve: data of /proc/PID that were read before and after may belong to
 * two programs, one of which is set-uid. So a taskid is read first, and compared after each step: the kernel draws
 * start_code and start_stack at random for each exec. A program can set these two for itself (prctl PR_SET_MM_MAP), but
 * not to those of a program that it has not identified yet.
 *
 * The kernel lets only root look into a process that is not dumpable: one that runs a set-uid, set-gid or unreadable
 * file, or one with file capabilities, or that changed its user since exec, or forbade it (PR_SET_DUMPABLE). We hold
 * capabilities that override this, and show what we read to others, so we refuse such processes ourselves. The
 * exception is a reader for root (TASKID_FOR_ROOT), which may read such a process; root has to choose it
 * (--interpreters=all), since results are not for root alone: a picture, as other output, is for all by root's umask.
 */
#ifndef PJ_TASKID_H
#define PJ_TASKID_H

#include "common/str.h"

#include <sys/types.h>

struct taskid {
	uint64_t start;                   /* start time of the process, clock ticks since boot */
	uint64_t start_code, start_stack; /* addresses; 1 and 0 if we may not read them */
};

/* User and group of a process, as numbers in our user namespace. */
struct taskid_user {
	uid_t uid;
	gid_t gid;
};

enum taskid_answer {
	TASKID_SAME,    /* the process lives, runs the program of the taskid, and its own user may read it */
	TASKID_GONE,    /* the process ended, or runs another program */
	TASKID_PRIVATE, /* the process's own user may not read it: it is not dumpable, or acts for another user */
	TASKID_DENIED   /* we may not read it, or have no free descriptor; errno has the reason */
};

/* Parses the text of /proc/PID/stat. *zombie: the process has ended. Returns false for other text. Pure. */
bool taskid_parse(struct str stat, struct taskid *id, bool *zombie);

/* Reads the taskid of a process; process: descriptor of its /proc/PID. Returns false if the process has ended, also as
 * a zombie. */
bool taskid_read(int process, struct taskid *id);

/* Returns true if the process lives and runs the program of the taskid. */
bool taskid_is(int process, const struct taskid *id);

/* Checks the same as taskid_is, and that the process's own user may read it. *user is its user if TASKID_SAME is
 * returned. */
enum taskid_answer taskid_check(int process, const struct taskid *id, struct taskid_user *user);

/* Opens /proc/PID/mem if taskid_check returns TASKID_SAME, and returns its answer, or TASKID_DENIED if the file cannot
 * be opened. *fd is the descriptor, -1 for all other answers. */
enum taskid_answer taskid_open_memory(int process, const struct taskid *id, struct taskid_user *user, int *fd);

/* The users to whom the results are shown. */
enum taskid_reader {
	TASKID_FOR_USER, /* perhaps the process's own user */
	TASKID_FOR_ROOT  /* root, and those to whom root gives the result */
};

/* Returns TASKID_FOR_ROOT if real, effective and saved user id and group id of this process are 0. A program that has
 * capabilities from its file, or is set-uid or set-gid, reads for its user or its group. */
enum taskid_reader taskid_reader(void);

/* Like taskid_open_memory. TASKID_FOR_ROOT: opens also the memory of a process that is not dumpable, if the kernel lets
 * us, and if it acts for one user: a daemon that changed its user (PHP-FPM) does, a set-uid program may not. */
enum taskid_answer taskid_open_memory_for(enum taskid_reader reader, int process, const struct taskid *id,
					  struct taskid_user *user, int *fd);

/* Parses user and group in the text of /proc/PID/status. Returns false if real, effective and saved ids differ, or for
 * other text. Pure. */
bool taskid_parse_user(struct str status, struct taskid_user *user);

#endif
