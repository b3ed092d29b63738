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

/* maximum number of recorders of one DIR that are signalled; further ones are not. Overlapping runs of cron are 2. */
#define HOLDERS 64
/* maximum number of attempts that fail because a holder ends meanwhile, or another recorder has taken its lock; then
 * recorderlock_end_holders fails */
#define ATTEMPTS 16

/* Returns true if lock->fd is an open regular file. Otherwise closes the descriptor and returns false with errno. */
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
	/* mode 0600: a user who can open the file could lock it and stop the recorder */
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

/* Returns the pid of the first holder of a part of the seconds [from, to), and sets *end to the end of the holder's
 * range. Returns 0 if the holder is in another PID namespace; -1 without setting *end if there is no holder. */
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

/* Requests the recorder with this pid, which holds a part of the seconds after `from`, to end at end_ns
 * (CLOCK_MONOTONIC). The kernel reuses a pid only after its process has ended. So the pidfd is that of the holder if
 * the process is still alive after it was seen holding the lock. Returns false with errno if no signal was sent;
 * EAGAIN: the holder has ended, or another recorder is the holder by now. */
static bool end_one_holder(const struct recorderlock *lock, uint64_t from, pid_t pid, uint64_t end_ns)
{
	int process = (int)syscall(SYS_pidfd_open, pid, 0), error = EAGAIN;
	uint64_t end;
	bool signalled = false;

	if (process < 0) {
		errno = errno == ESRCH ? EAGAIN : errno;
		return false;
	}
	if (find_holder(lock, from, lock->to, &end) == pid && !process_has_ended(process)) {
		signalled = signal_end(process, end_ns);
		error = errno == ESRCH ? EAGAIN : errno;
	}
	close(process);
	errno = error;
	return signalled;
}

int recorderlock_end_holders(const struct recorderlock *lock, uint64_t end_ns, pid_t *pid)
{
	uint64_t from = lock->from, end = from;
	int signalled = 0, attempts = 0;

	while (from < lock->to && signalled < HOLDERS && (*pid = find_holder(lock, from, lock->to, &end)) >= 0) {
		if (*pid == 0) {
			errno = ESRCH;
			return -1;
		}
		if (end_one_holder(lock, from, *pid, end_ns)) {
			signalled++;
			from = end;
		} else if (errno != EAGAIN || ++attempts == ATTEMPTS) {
			return -1;
		}
	}
	return signalled;
}
