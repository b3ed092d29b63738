/* SPDX-License-Identifier: Apache-2.0 */
/*
 * targetuser.h - work in the /tmp of a target process, with no more rights than that process has.
 *
 * pjmap enters no namespace of the target: it opens descriptors of the target's root directory, /tmp and working
 * directory. Then a child process changes to the target's user and group and drops all other rights, so it has no more
 * access to files than the target. Files that it creates belong to the target's user, in a user namespace, too. The
 * child returns its output through a pipe, limited in length, and is killed at the time limit.
 */
#ifndef PJ_TARGETUSER_H
#define PJ_TARGETUSER_H

#include "runtimes/hotspot/discover.h"
#include "runtimes/hotspot/hotspot.h"

/* A target process whose directories are open. */
struct targetuser {
	/* pid; pid in its own PID namespace; uid and gid of the target process */
	pid_t pid, inner;
	uid_t uid;
	gid_t gid;
	/* descriptor of /proc/PID; the caller owns it */
	int process;
	/* O_PATH descriptors of the target's root, /tmp and working directory; cwd: -1 if not accessible */
	int root, tmp, cwd;
	/* pidfd of the target; certainly that of the process of descriptor `process` */
	int pidfd;
};

/* Opens the directories of a process. Returns code NULL on success, else a reason. The caller calls targetuser_leave in
 * both cases. */
struct hotspot_reason targetuser_enter(struct targetuser *user, const struct jvm_process *process);
/* Closes all descriptors that targetuser_enter opened. */
void targetuser_leave(struct targetuser *user);

/* Runs a job in a child process with the target's rights, and appends its output, at most `max` bytes, to out. Returns
 * the reason that the job returned, or reason "timeout" after `seconds`. */
typedef struct hotspot_reason targetuser_job(const struct targetuser *user, void *arg, struct text *out);
struct hotspot_reason guest_do(const struct targetuser *user, targetuser_job *job, void *arg, unsigned seconds,
			       size_t max, struct text *out);

/* guest_reason returns a reason with a formatted text. targetuser_fine returns one with code NULL, for success. */
PRINTF(2, 3) struct hotspot_reason guest_reason(const char *code, const char *fmt, ...);
struct hotspot_reason targetuser_fine(void);

/* ---- functions for use in the child ---------------------------------------------------------------------------- */

/* Creates a file ".pjmap-<random><suffix>" in the target's /tmp and stores its name in `name`. Fails if the name
 * exists, so no other process can have placed the file there. Returns a descriptor, or -1 and errno. */
#define TARGETUSER_NAME 40
int targetuser_create(const struct targetuser *user, char name[TARGETUSER_NAME], const char *suffix, mode_t mode);

/* Returns true if the name in the target's /tmp is a regular file of the target with one link, or does not exist. Then
 * writing to it overwrites no other file. Sets *is_there if it exists. */
bool targetuser_is_own(const struct targetuser *user, const char *name, bool *is_there);

#endif
