/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recorderlock.h - the lock that keeps a second recorder from writing windows of the same time into one DIR.
 *
 * DIR/recording/recorder is an empty file. Its bytes are seconds since 1970, and a recorder holds a lock (fcntl) of the
 * bytes for which it will write windows: of all of them, unless its begin and end are known (--align with -n). So runs
 * of cron that follow each other do not collide, and two recorders of the same second do.
 *
 * The kernel releases the lock when the process ends, also by SIGKILL, and helper processes do not inherit it. It also
 * gives the PID of the holder (F_GETLK), so no file has to contain a PID that may belong to another process by now. No
 * other descriptor of this file may be closed in the process: that would release the lock.
 */
#ifndef PJ_RECORDERLOCK_H
#define PJ_RECORDERLOCK_H

#include "common/base.h"

#include <sys/types.h>

#define RECORDERLOCK_END (UINT64_C(1) << 62)

/* The seconds [from, to); to RECORDERLOCK_END: without end. The byte RECORDERLOCK_END belongs to the one recorder that
 * takes or awaits a lock, so that no third one gets it in between. */
struct recorderlock {
	int fd; /* of DIR/recording/recorder; -1: none */
	uint64_t from, to;
};

/* Opens the file in the folder of the descriptor `recording`, makes it if it is missing. Returns false and errno on
 * failure. */
bool recorderlock_open(struct recorderlock *lock, int recording, uint64_t from, uint64_t to);

/* Opens the file for recorderlock_holder alone, of all seconds, and makes no file. Returns false and errno on failure;
 * ENOENT: no recorder has used the folder. */
bool recorderlock_look(struct recorderlock *lock, int recording);

/* Takes the lock. Returns false if another recorder holds a part of it (errno EAGAIN) or awaits it (EBUSY), or if locks
 * do not work here (another errno). With `await`, no other recorder can take it from then on. */
bool recorderlock_take(const struct recorderlock *lock, bool await);

/* Releases the lock; another recorder may take it. */
void recorderlock_release(const struct recorderlock *lock);

/* Returns the PID of the first recorder that holds a part of these seconds, or awaits its lock; 0: it runs in another
 * PID namespace or on another host; -1: there is none. */
pid_t recorderlock_holder(const struct recorderlock *lock);

/* Requests that all recorders that hold a part of these seconds end at the time end_ns (CLOCK_MONOTONIC): SIGTERM
 * with that time. Each signal goes to a process that held the lock after its descriptor (pidfd) was opened, so never to
 * another process that got its PID. Returns their number; -1 with errno and *pid if one cannot be asked (ESRCH with
 * *pid 0: it runs in another PID namespace). */
int recorderlock_ask(const struct recorderlock *lock, uint64_t end_ns, pid_t *pid);

void recorderlock_close(struct recorderlock *lock);

#endif
