/* SPDX-License-Identifier: Apache-2.0 */
/* recorderlock_test - locks of recorders in real processes: holders by the kernel's word, seconds, requests to end. */
/* covers: record/windows/recorderlock.c */
#include "record/windows/recorderlock.h"

#include "test/lib/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int folder;

/* A process that holds [from, to) until it gets SIGTERM, and then writes the value of the signal to *result. */
struct other {
	pid_t pid;
	int result;
};

static void hold(uint64_t from, uint64_t to, bool await, int ready, int result)
{
	struct recorderlock lock;
	siginfo_t info;
	sigset_t set;
	char answer;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	if (!recorderlock_open(&lock, folder, from, to))
		_exit(1);
	answer = recorderlock_take(&lock, await) ? 'y' : 'n';
	if (write(ready, &answer, 1) != 1 || sigwaitinfo(&set, &info) != SIGTERM)
		_exit(2);
	if (info.si_code == SI_QUEUE && info.si_pid == getppid() && write(result, &info.si_value.sival_ptr, 8) != 8)
		_exit(3);
	_exit(0);
}

static struct other other_start(uint64_t from, uint64_t to, bool await, char expected)
{
	struct other other;
	int ready[2], result[2];
	char answer;

	if (pipe(ready) || pipe(result))
		abort();
	other.pid = fork();
	if (other.pid == 0)
		hold(from, to, await, ready[1], result[1]);
	if (read(ready[0], &answer, 1) != 1 || answer != expected)
		abort();
	close(ready[0]);
	close(ready[1]);
	close(result[1]);
	other.result = result[0];
	return other;
}

static uint64_t other_end(struct other *other)
{
	uint64_t value = 0;

	if (read(other->result, &value, 8) != 8)
		value = 0;
	close(other->result);
	waitpid(other->pid, NULL, 0);
	return value;
}

static struct recorderlock open_lock(uint64_t from, uint64_t to)
{
	struct recorderlock lock;

	if (!recorderlock_open(&lock, folder, from, to))
		abort();
	return lock;
}

static void one_recorder(void)
{
	struct other other = other_start(0, RECORDERLOCK_END, false, 'y');
	struct recorderlock lock = open_lock(0, RECORDERLOCK_END);

	is_u64(recorderlock_take(&lock, false), false, "a second recorder does not get the lock");
	is_u64((uint64_t)errno, EAGAIN, "  as another one has it");
	is_u64((uint64_t)recorderlock_holder(&lock), (uint64_t)other.pid, "  the kernel names the holder");
	kill(other.pid, SIGKILL);
	other_end(&other);
	is_u64((uint64_t)recorderlock_holder(&lock), (uint64_t)-1, "a killed recorder holds nothing");
	is_u64(recorderlock_take(&lock, false), true, "  the next one gets the lock");
	recorderlock_release(&lock);
	other = other_start(0, RECORDERLOCK_END, false, 'y');
	is_u64(recorderlock_take(&lock, false), false, "a released lock is free for others");
	kill(other.pid, SIGKILL);
	other_end(&other);
	recorderlock_close(&lock);
}

static void by_seconds(void)
{
	struct other first = other_start(60, 120, false, 'y');
	struct recorderlock next = open_lock(120, 180), same = open_lock(90, 100), all = open_lock(0, RECORDERLOCK_END);

	is_u64((uint64_t)recorderlock_holder(&same), (uint64_t)first.pid, "runs of the same second collide");
	is_u64((uint64_t)recorderlock_holder(&all), (uint64_t)first.pid, "  so does a run without end");
	is_u64(recorderlock_take(&next, false), true, "a run that follows another one does not");
	recorderlock_release(&next);
	kill(first.pid, SIGKILL);
	other_end(&first);
	recorderlock_close(&next);
	recorderlock_close(&same);
	recorderlock_close(&all);
}

static void replaced(void)
{
	struct other first = other_start(60, 120, false, 'y'), second = other_start(120, 180, false, 'y');
	struct recorderlock lock = open_lock(0, RECORDERLOCK_END);
	struct other third;
	pid_t pid = 0;

	is_u64(recorderlock_take(&lock, true), false, "one that replaces others waits for the lock");
	third = other_start(500, 600, false, 'n');
	ok(true, "  until then no third one gets any");
	is_u64((uint64_t)recorderlock_end_holders(&lock, 123456789012345, &pid), 2,
	       "  all holders are signalled to end");
	is_u64(other_end(&first), 123456789012345, "  at a time in ns");
	is_u64(other_end(&second), 123456789012345, "  each of them");
	is_u64(recorderlock_take(&lock, true), true, "  then the lock is its own");
	is_u64((uint64_t)recorderlock_end_holders(&lock, 5, &pid), 0, "  and no other recorder is left to signal");
	kill(third.pid, SIGKILL);
	other_end(&third);
	recorderlock_close(&lock);
}

int main(void)
{
	char path[] = "/tmp/pj-recorderlock-test.XXXXXX", file[80];

	if (!mkdtemp(path) || (folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
		abort();
	one_recorder();
	by_seconds();
	replaced();
	snprintf(file, sizeof(file), "%s/recorder", path);
	unlink(file);
	rmdir(path);
	return done();
}
