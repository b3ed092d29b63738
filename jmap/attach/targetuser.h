/* SPDX-License-Identifier: Apache-2.0 */
/*
 * targetuser.h - runs jobs in the /tmp of a target process, with no more rights than the target has.
 *
 * pjmap enters no namespace of the target: it opens descriptors of the target's root directory, /tmp and working
 * directory. Then a child process changes to the target's user and group and drops all other rights, so it can access
 * no more files than the target. Files that it creates belong to the target's user, also in a user namespace. The child
 * returns output of limited length through a pipe. pjmap kills it at the time limit.
 */
#ifndef PJ_TARGETUSER_H
#define PJ_TARGETUSER_H

#include "runtimes/hotspot/discover.h"
#include "runtimes/hotspot/hotspot.h"

/* A target process whose directories are open. */
struct targetuser {
	/* pid: pid of the target; inner: its pid in its own PID namespace */
	pid_t pid, inner;
	/* user id of the target */
	uid_t uid;
	/* group id of the target */
	gid_t gid;
	/* descriptor of the target's /proc/PID, which the caller owns */
	int process;
	/* O_PATH descriptors of the target's root directory, /tmp and working directory; cwd is -1 if it is not
	 * accessible */
	int root, tmp, cwd;
	/* pidfd of the target, verified to be the process of descriptor `process` */
	int pidfd;
};

/* Opens the directories of a process. Returns a reason with code NULL on success. The caller calls targetuser_leave in
 * any case, and keeps process->folder open until then. */
struct hotspot_reason targetuser_enter(struct targetuser *user, const struct jvm_process *process);
/* Closes all descriptors that targetuser_enter opened. */
void targetuser_leave(struct targetuser *user);

/* A job for guest_do. Runs in the child with the target's rights and appends its output to `out`. Returns a reason with
 * code NULL on success. */
typedef struct hotspot_reason targetuser_job(const struct targetuser *user, void *arg, struct text *out);
/* Runs a job in a child process with the target's rights, and appends its output to `out`, truncated to `max` bytes.
 * Returns the reason that the job returned; code "timeout" if the job takes longer than `seconds`; code "failed" if the
 * child cannot be started or ends before it has written all of the output, or if the job returned an unknown code. */
struct hotspot_reason guest_do(const struct targetuser *user, targetuser_job *job, void *arg, unsigned seconds,
			       size_t max, struct text *out);

/* guest_reason returns a reason with a formatted text. targetuser_fine returns a reason with code NULL, which means
 * success. */
PRINTF(2, 3) struct hotspot_reason guest_reason(const char *code, const char *fmt, ...);
struct hotspot_reason targetuser_fine(void);

/* ---- functions for use in the child process ---------------------------------------------------------------------- */

/* size in bytes of a buffer for the name of a file in the target's /tmp */
#define TARGETUSER_NAME 40
/* Creates a file ".pjmap-<random><suffix>" with this mode in the target's /tmp and stores its name in `name`. Returns a
 * descriptor, or -1 and errno. Fails if a file of this name exists: another process may have created it. */
int targetuser_create(const struct targetuser *user, char name[TARGETUSER_NAME], const char *suffix, mode_t mode);

/* Returns true if `name` in the target's /tmp does not exist, or is a regular file of the target's user with one link.
 * Then a write to the name changes no file of another user. Sets *is_there to true if the name exists, otherwise to
 * false. */
bool targetuser_is_own(const struct targetuser *user, const char *name, bool *is_there);

#endif
