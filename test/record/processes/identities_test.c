/* Facts of processes from /proc, and processes whose /proc does not answer. */
/* covers: record/processes/identities.c */
#include "record/processes/identities.h"
#include "common/clocks.h"
#include "test/lib/tap.h"
#include "common/process/timelimit.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

/* Above the largest PID of Linux (4194304), so that they are places of their own. */
enum { HANGS = 4194307, ENDED, ANSWERS };

static atomic_bool hang;

/* Others than ANSWERS and ENDED do not answer while hang is set. */
static bool fake_read(uint32_t pid, struct identity *found)
{
	while (pid != ANSWERS && pid != ENDED && hang)
		usleep(1000);
	*found = (struct identity){ .start_ticks = pid };
	return pid != ENDED;
}

static unsigned await_left(void)
{
	for (int k = 0; k < 5000 && timelimit_left(); k++)
		usleep(1000);
	return timelimit_left();
}

/* A loaded machine may let a lookup miss its time: its place then rests. */
static bool find_at_last(struct identities *i, uint32_t pid, struct identity *found)
{
	for (int k = 0; k < 20; k++) {
		if (identities_find(i, pid, found))
			return true;
		usleep(450000);
	}
	return false;
}

static void check_real(void)
{
	struct identities *i = identities_new();
	struct identity found = { 0 };

	ok(find_at_last(i, (uint32_t)getpid(), &found), "this process");
	ok(found.start_ticks && found.mount_ns, "  its start and mount namespace");
	is_u64(found.inner_pid, (uint64_t)getpid(), "  its PID");
	ok(!identities_find(i, 4194305, &found), "one that is not there");
	is_u64(await_left(), 0, "  no thread is left behind");
	identities_free(i);
}

static void check_hang(void)
{
	struct identities *i = identities_new();
	struct identity found = { 0 };
	uint64_t before, took;

	identities_reader(i, fake_read);
	ok(!identities_find(i, ENDED, &found), "a process that has ended");
	hang = true;
	before = clock_now();
	for (unsigned k = 0; k < 1000; k++)
		identities_find(i, HANGS, &found);
	took = clock_now() - before;
	ok(took < 3 * SECOND_NS, "1,000 lookups of a process that does not answer do not wait for it");
	is_u64(timelimit_left(), 1, "  one thread is left behind");
	usleep(1100000);
	ok(find_at_last(i, ANSWERS, &found) && found.start_ticks == ANSWERS, "  others are looked up");
	hang = false;
	is_u64(await_left(), 0, "  and no thread is left when it answers");
	hang = true;
	usleep(1100000);
	identities_find(i, HANGS, &found);
	identities_free(i);
	hang = false;
	is_u64(await_left(), 0, "  nor is the last one waited for");
}

/* A process whose namespaces cannot be read in time is of its user or container. */
static void check_user(void)
{
	struct identities *i = identities_new();
	struct identity found = { 0 };
	int ready[2];
	char byte;
	pid_t pid;

	if (pipe(ready) < 0)
		return;
	pid = fork();
	if (pid == 0) {
		if ((getuid() || setresuid(1234, 1234, 1234) == 0) && write(ready[1], "", 1) == 1)
			pause();
		_exit(1);
	}
	close(ready[1]);
	ok(read(ready[0], &byte, 1) == 1, "a process of a user");
	identities_reader(i, fake_read);
	hang = true;
	ok(!identities_find(i, (uint32_t)pid, &found), "  does not answer");
	ok(found.tenant.kind == TENANT_USER || found.tenant.kind == TENANT_CONTAINER, "  its tenant is known");
	is_u64(found.start_ticks, 0, "  nothing else is");
	hang = false;
	await_left();
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	identities_free(i);
	close(ready[0]);
}

int main(void)
{
	check_real();
	check_hang();
	check_user();
	return done();
}
