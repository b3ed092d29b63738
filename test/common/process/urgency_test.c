/* urgency_test - nice values as the kernel has them: raised only from the usual one, lowered for helper processes, and
 * short slices that change no nice value. */
/* covers: common/process/urgency.c */
#include "common/process/urgency.h"

#include "test/lib/tap.h"

#include <errno.h>
#include <linux/ioprio.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int nice_of_self(void)
{
	return getpriority(PRIO_PROCESS, 0);
}

/* Each check runs in a process of its own: what it changes ends with it. */
static bool in_child(bool (*check)(void))
{
	int status = 1;
	pid_t pid = fork();

	if (pid == 0)
		_exit(!check());
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

static bool may_raise(void)
{
	return setpriority(PRIO_PROCESS, 0, -1) == 0;
}

static bool raise_usual(void)
{
	urgency_raise();
	return nice_of_self() == URGENCY_NOW;
}

static bool raise_without_right(void)
{
	urgency_raise();
	return nice_of_self() == URGENCY_USUAL;
}

static bool raise_raised(void)
{
	setpriority(PRIO_PROCESS, 0, -5);
	urgency_raise();
	return nice_of_self() == -5;
}

static bool raise_lowered(void)
{
	setpriority(PRIO_PROCESS, 0, 7);
	urgency_raise();
	return nice_of_self() == 7;
}

static bool raise_batch(void)
{
	struct sched_param none = { 0 };

	if (sched_setscheduler(0, SCHED_BATCH, &none))
		return false;
	urgency_raise();
	return nice_of_self() == URGENCY_USUAL && sched_getscheduler(0) == SCHED_BATCH;
}

static bool lower_helper(void)
{
	urgency_raise();
	urgency_lower(URGENCY_SOON);
	if (nice_of_self() != URGENCY_SOON)
		return false;
	urgency_lower(URGENCY_USUAL);
	return nice_of_self() == URGENCY_USUAL;
}

/* Starts a process with a nice value, lowers it from here, and returns its value then. */
static int lower_child_of(int nice_value)
{
	int ready[2], found;
	pid_t pid;
	char any;

	if (pipe(ready) < 0 || (pid = fork()) < 0)
		return -99;
	if (pid == 0) {
		setpriority(PRIO_PROCESS, 0, nice_value);
		_exit(write(ready[1], "", 1) == 1 && pause());
	}
	if (read(ready[0], &any, 1) != 1)
		return -99;
	urgency_lower_child(pid);
	found = getpriority(PRIO_PROCESS, (id_t)pid);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return found;
}

static bool lower_lowered(void)
{
	setpriority(PRIO_PROCESS, 0, 7);
	urgency_lower(URGENCY_USUAL);
	return nice_of_self() == 7;
}

static bool short_slices(void)
{
	setpriority(PRIO_PROCESS, 0, 3);
	urgency_short_slices();
	return nice_of_self() == 3 && sched_getscheduler(0) == SCHED_OTHER;
}

static bool idle_disk(void)
{
	urgency_idle_disk();
	return IOPRIO_PRIO_CLASS(syscall(SYS_ioprio_get, IOPRIO_WHO_PROCESS, 0)) == IOPRIO_CLASS_IDLE;
}

int main(void)
{
	if (nice_of_self() != URGENCY_USUAL || sched_getscheduler(0) != SCHED_OTHER) {
		printf("1..0 # SKIP started with another priority than usual\n");
		return 0;
	}
	if (in_child(may_raise)) {
		ok(in_child(raise_usual), "the usual nice value is raised");
		ok(in_child(raise_raised), "another one stays");
		ok(in_child(lower_helper), "a helper process has a lower one, in two steps");
		ok(lower_child_of(URGENCY_SOON) == URGENCY_USUAL, "that of a child process is lowered");
	} else {
		ok(in_child(raise_without_right), "without CAP_SYS_NICE the nice value stays");
		ok(true, "another one stays # SKIP no CAP_SYS_NICE");
		ok(true, "a helper process has a lower one, in two steps # SKIP no CAP_SYS_NICE");
		ok(true, "that of a child process is lowered # SKIP no CAP_SYS_NICE");
	}
	ok(in_child(raise_lowered), "a lower one stays");
	ok(in_child(raise_batch), "another policy stays, with its nice value");
	ok(in_child(lower_lowered), "nothing is raised by lowering");
	ok(lower_child_of(7) == 7, "  nor in a child process");
	ok(in_child(short_slices), "short slices leave nice value and policy");
	ok(in_child(idle_disk), "the disk serves the process last");
	return done();
}
