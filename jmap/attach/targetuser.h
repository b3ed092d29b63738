/* SPDX-License-Identifier: Apache-2.0 */
/*
 * targetuser.h - work in the /tmp of another process, with no more rights than it has.
 *
 * No namespace is entered: its root, /tmp and working folder are descriptors, which are opened before. A child takes
 * the user and group of the process and none of ours, so it can do to the files there what the process itself could,
 * and no more; so files that it makes have the right owner also in a user namespace. What it finds comes back through a
 * pipe, cut at a length, and it is ended when its time is over.
 */
#ifndef PJ_TARGETUSER_H
#define PJ_TARGETUSER_H

#include "runtimes/hotspot/discover.h"
#include "runtimes/hotspot/hotspot.h"

struct targetuser {
	pid_t pid, inner;
	uid_t uid;
	gid_t gid;
	int process;        /* /proc/PID: borrowed */
	int root, tmp, cwd; /* of O_PATH; cwd: -1 when it cannot be had */
	int pidfd;          /* certainly that process */
};

/* Afterwards guest_leave in any case. code NULL: it can be worked in. */
struct hotspot_reason targetuser_enter(struct targetuser *user, const struct jvm_process *process);
void targetuser_leave(struct targetuser *user);

/* Runs job in a child; what it appends to out comes back, at most `most` bytes. Not done in so many seconds: "timeout".
 */
typedef struct hotspot_reason targetuser_job(const struct targetuser *user, void *arg, struct text *out);
struct hotspot_reason guest_do(const struct targetuser *user, targetuser_job *job, void *arg, unsigned seconds,
			       size_t max, struct text *out);

/* A reason with its text, and none. */
PRINTF(2, 3) struct hotspot_reason guest_reason(const char *code, const char *fmt, ...);
struct hotspot_reason targetuser_fine(void);

/* ---- in the child ---- */

/* A new file in its /tmp, ".pjmap-<random><suffix>", which nobody can have put there; name takes it. -1 and errno. */
#define TARGETUSER_NAME 40
int targetuser_create(const struct targetuser *user, char name[TARGETUSER_NAME], const char *suffix, mode_t mode);

/* Is that a plain file of its own with one name, or nothing? Then nothing else is overwritten by way of it. */
bool targetuser_is_own(const struct targetuser *user, const char *name, bool *is_there);

#endif
