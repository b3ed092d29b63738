/* SPDX-License-Identifier: Apache-2.0 */
#include "record/windows/recorderlock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HOLDERS 64  /* recorders of one DIR that are asked; runs of cron are two */
#define ATTEMPTS 16 /* while a holder ends and another one takes the lock */

/* Returns true if the file of the lock is open and regular; otherwise closes it, with errno. */
static bool recorderlock_check(struct recorderlock *lock)
{
	struct stat status;

	if (lock->fd < 0)
		return false;
	if (fstat(lock->fd, &status) == 0 && S_ISREG(status.st_mode))
		return true;
	recorderlock_close(lock);
	errno = EINVAL;
	return false;
}

bool recorderlock_open(struct recorderlock *lock, int recording, uint64_t from, uint64_t to)
{
	/* 0600: a user who can lock the file could stop the recorder */
	*lock = (struct recorderlock){
		openat(recording, "recorder", O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600), from, to
	};
	return recorderlock_check(lock);
}

bool recorderlock_look(struct recorderlock *lock, int recording)
{
	*lock = (struct recorderlock){ openat(recording, "recorder", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), 0,
				       RECORDERLOCK_END };
	return recorderlock_check(lock);
}

void recorderlock_close(struct recorderlock *lock)
{
	if (lock->fd >= 0)
		close(lock->fd);
	lock->fd = -1;
}

static struct flock lock_range(short type, uint64_t from, uint64_t to)
{
	return (struct flock){
		.l_type = type, .l_whence = SEEK_SET, .l_start = (off_t)from, .l_len = (off_t)(to - from)
	};
}

static bool set_lock(const struct recorderlock *lock, short type, uint64_t from, uint64_t to)
{
	struct flock range = lock_range(type, from, to);

	if (fcntl(lock->fd, F_SETLK, &range) == 0)
		return true;
	errno = errno == EACCES ? EAGAIN : errno;
	return false;
}

bool recorderlock_take(const struct recorderlock *lock, bool await)
{
	bool taken;
	int error;

	if (!set_lock(lock, F_WRLCK, RECORDERLOCK_END, RECORDERLOCK_END + 1)) {
		errno = errno == EAGAIN ? EBUSY : errno;
		return false;
	}
	taken = set_lock(lock, F_WRLCK, lock->from, lock->to);
	error = errno;
	if (taken || !await)
		set_lock(lock, F_UNLCK, RECORDERLOCK_END, RECORDERLOCK_END + 1);
	errno = error;
	return taken;
}

void recorderlock_release(const struct recorderlock *lock)
{
	set_lock(lock, F_UNLCK, 0, RECORDERLOCK_END + 1);
}

/* Returns the first holder of a part of [from, to) and sets *end to the end of its part; -1: there is none. */
static pid_t find_holder(const struct recorderlock *lock, uint64_t from, uint64_t to, uint64_t *end)
{
	struct flock range = lock_range(F_WRLCK, from, to);

	if (fcntl(lock->fd, F_GETLK, &range) < 0 || range.l_type == F_UNLCK)
		return -1;
	*end = range.l_len ? (uint64_t)(range.l_start + range.l_len) : UINT64_MAX;
	return range.l_pid > 0 ? range.l_pid : 0;
}

pid_t recorderlock_holder(const struct recorderlock *lock)
{
	uint64_t end;
	pid_t pid = find_holder(lock, lock->from, lock->to, &end);

	return pid >= 0 ? pid : find_holder(lock, RECORDERLOCK_END, RECORDERLOCK_END + 1, &end);
}

static bool process_has_ended(int process)
{
	struct pollfd ended = { process, POLLIN, 0 };

	return poll(&ended, 1, 0) != 0;
}

static bool signal_end(int process, uint64_t end_ns)
{
	siginfo_t info;

	memset(&info, 0, sizeof(info));
	info.si_signo = SIGTERM;
	info.si_code = SI_QUEUE;
	info.si_pid = getpid();
	info.si_uid = getuid();
	info.si_value.sival_ptr = (void *)(uintptr_t)end_ns;
	return syscall(SYS_pidfd_send_signal, process, SIGTERM, &info, 0) == 0;
}

/* Sends the request to the process pid, which holds a part after `from`. The descriptor is that of the holder if the
 * process still lives after it was seen holding the lock: a PID is free for others only after its process has ended.
 * Returns false with errno; EAGAIN: the holder is another one by now. */
static bool ask_one_holder(const struct recorderlock *lock, uint64_t from, pid_t pid, uint64_t end_ns)
{
	int process = (int)syscall(SYS_pidfd_open, pid, 0), error = EAGAIN;
	uint64_t end;
	bool asked = false;

	if (process < 0) {
		errno = errno == ESRCH ? EAGAIN : errno;
		return false;
	}
	if (find_holder(lock, from, lock->to, &end) == pid && !process_has_ended(process)) {
		asked = signal_end(process, end_ns);
		error = errno == ESRCH ? EAGAIN : errno;
	}
	close(process);
	errno = error;
	return asked;
}

int recorderlock_ask(const struct recorderlock *lock, uint64_t end_ns, pid_t *pid)
{
	uint64_t from = lock->from, end = from;
	int asked = 0, attempts = 0;

	while (from < lock->to && asked < HOLDERS && (*pid = find_holder(lock, from, lock->to, &end)) >= 0) {
		if (*pid == 0) {
			errno = ESRCH;
			return -1;
		}
		if (ask_one_holder(lock, from, *pid, end_ns)) {
			asked++;
			from = end;
		} else if (errno != EAGAIN || ++attempts == ATTEMPTS) {
			return -1;
		}
	}
	return asked;
}
