/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recorderlock.h - the lock that keeps two recorders from writing windows of the same time into one DIR.
 *
 * DIR/recording/recorder is an empty file. Byte n of it stands for second n since 1970. A recorder holds an fcntl lock
 * of the bytes for which it will write windows. It locks all bytes, unless its begin and end are known (--align with
 * -n). So successive runs of cron do not conflict, but two recorders of the same second do.
 *
 * The kernel releases the lock when the process ends, also by SIGKILL, and helper processes do not inherit it. F_GETLK
 * returns the pid of the holder, so no file has to store a pid, which may belong to another process by now. The process
 * must not close another descriptor of this file: that would release the lock.
 */
#ifndef PJ_RECORDERLOCK_H
#define PJ_RECORDERLOCK_H

#include "common/base.h"

#include <sys/types.h>

#define RECORDERLOCK_END (UINT64_C(1) << 62)

/* Lock of the seconds [from, to) since 1970; `to` RECORDERLOCK_END: all seconds after `from`. A recorder that takes or
 * awaits a lock also holds byte RECORDERLOCK_END. Only one recorder can hold that byte, so no third recorder gets the
 * lock in between. */
struct recorderlock {
	int fd; /* descriptor of DIR/recording/recorder; -1: not open */
	uint64_t from, to;
};

/* Opens the lock file in the folder with descriptor `recording`, for the seconds [from, to), and creates the file if
 * necessary. Does not lock it. Returns false with errno on failure. */
bool recorderlock_open(struct recorderlock *lock, int recording, uint64_t from, uint64_t to);

/* Opens the lock file read-only for all seconds, for recorderlock_holder, and does not create it. Returns false with
 * errno on failure; ENOENT: no recorder has used the folder. */
bool recorderlock_look(struct recorderlock *lock, int recording);

/* Takes the lock of the seconds [from, to). Returns false with errno: EAGAIN if another recorder holds a part of the
 * seconds, EBUSY if another recorder takes or awaits a lock, another errno if locks do not work here. await true: after
 * EAGAIN, no other recorder can take the lock until this one takes or releases it. */
bool recorderlock_take(const struct recorderlock *lock, bool await);

/* Releases the lock, or the wait for it, so that another recorder may take it. */
void recorderlock_release(const struct recorderlock *lock);

/* Returns the pid of the first recorder that holds a part of the lock's seconds; if there is none, of the recorder that
 * takes or awaits a lock. Returns 0 if that recorder runs in another PID namespace or on another host; -1 if there is
 * no such recorder. */
pid_t recorderlock_holder(const struct recorderlock *lock);

/* Requests all recorders that hold a part of the lock's seconds to end at time end_ns (CLOCK_MONOTONIC): sends SIGTERM
 * with end_ns as its value. Each signal goes through a pidfd that was opened before the process was seen holding the
 * lock. So the signal never reaches another process with the same pid. Returns the number of signalled recorders, at
 * most 64. If a recorder cannot be signalled, returns -1 with errno and sets *pid to its pid; ESRCH with *pid 0: the
 * recorder runs in another PID namespace. */
int recorderlock_end_holders(const struct recorderlock *lock, uint64_t end_ns, pid_t *pid);

void recorderlock_close(struct recorderlock *lock);

#endif
