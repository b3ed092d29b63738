/* SPDX-License-Identifier: Apache-2.0 */
/*
 * targetuser.h - work in the /tmp of a target process, with no more rights than that process has.
 *
 * No namespace is entered: root directory, /tmp and working directory of the target are descriptors that are opened
 * before. A child process takes the user and group of the target and drops all other rights, so it can do to these
 * files only what the target could do; files that it creates have the right owner also in a user namespace. Its result
 * returns through a pipe, limited in length, and it is killed at the time limit.
 */
#ifndef PJ_TARGETUSER_H
#define PJ_TARGETUSER_H

#include "runtimes/hotspot/discover.h"
#include "runtimes/hotspot/hotspot.h"

/* A target process that was entered. */
struct targetuser {
	/* pid, and pid in its own namespace; user and group */
	pid_t pid, inner;
	uid_t uid;
	gid_t gid;
	/* descriptor of /proc/PID, owned by the caller */
	int process;
	/* O_PATH descriptors; cwd: -1 if not accessible */
	int root, tmp, cwd;
	/* certainly refers to that process */
	int pidfd;
};

/* Opens the directories of a process. Returns code NULL on success, else the reason. targetuser_leave must be called
 * in both cases. */
struct hotspot_reason targetuser_enter(struct targetuser *user, const struct jvm_process *process);
/* Closes the directories. */
void targetuser_leave(struct targetuser *user);

/* Runs job in a child with the target's rights; its output, at most `max` bytes, is appended to out. Returns the
 * job's reason, or "timeout" after `seconds`. */
typedef struct hotspot_reason targetuser_job(const struct targetuser *user, void *arg, struct text *out);
struct hotspot_reason guest_do(const struct targetuser *user, targetuser_job *job, void *arg, unsigned seconds,
			       size_t max, struct text *out);

/* Return a reason with a formatted text, and one with code NULL. */
PRINTF(2, 3) struct hotspot_reason guest_reason(const char *code, const char *fmt, ...);
struct hotspot_reason targetuser_fine(void);

/* ---- functions for use in the child ---------------------------------------------------------------------------- */

/* Creates a file ".pjmap-<random><suffix>" in the target's /tmp and writes its name to `name`. No other process can
 * have placed it there. Returns -1 and errno on failure. */
#define TARGETUSER_NAME 40
int targetuser_create(const struct targetuser *user, char name[TARGETUSER_NAME], const char *suffix, mode_t mode);

/* True if the name in the target's /tmp is a regular file of the target with one link, or does not exist: then
 * writing to it overwrites no other file. *is_there: it exists. */
bool targetuser_is_own(const struct targetuser *user, const char *name, bool *is_there);

#endif
