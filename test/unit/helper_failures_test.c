/* SPDX-License-Identifier: Apache-2.0 */
/* helper_failures_test.c - failures of helper processes: whose files are avoided, for how long, and that nothing is off for good. */
#include "record/helper_failures.h"

#include "clocks.h"
#include "tap.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define S SECOND_NS
#define OWN 77

static pid_t ended(void)
{
	pid_t pid = fork();
	siginfo_t info;

	if (pid == 0)
		_exit(0);
	waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
	return pid;
}

static uint64_t user(uint64_t uid)
{
	return helper_place(&(struct tenant){ TENANT_USER, uid }, OWN, 5);
}

static void places(void)
{
	struct tenant host = { TENANT_MOUNT_NS, OWN }, other = { TENANT_MOUNT_NS, 78 }, container = { TENANT_CONTAINER, 1 };

	ok(helper_place(&host, OWN, 1) != helper_place(&host, OWN, 2), "devices of the host are places of their own");
	ok(helper_place(&other, OWN, 1) == helper_place(&other, OWN, 2), "another mount namespace is one place");
	ok(helper_place(&container, OWN, 1) == helper_place(&container, OWN, 2), "a container is one place, whatever it mounts");
	ok(user(1) != user(2) && user(1) != helper_place(&container, OWN, 1), "tenants are different places");
}

static void times(void)
{
	struct helper_failures f = { 0 };
	uint64_t now = 100000 * S;

	ok(helper_may_start(&f, now) && !helper_avoids(&f, user(1), now), "nothing is avoided at first");
	helper_failed(&f, ended(), user(1), true, now);
	ok(helper_may_start(&f, now), "the next helper starts at once");
	ok(helper_avoided_until(&f, user(1), now) == now + 10 * S && helper_avoided_until(&f, user(2), now) == 0, "  until then");
	ok(helper_avoids(&f, user(1), now + 9 * S) && !helper_avoids(&f, user(1), now + 11 * S), "a place is avoided for 10 s");
	ok(!helper_avoids(&f, user(2), now + S), "  another one is not");
	ok(helper_places_avoided(&f, now + S) == 1 && helper_places_avoided(&f, now + 11 * S) == 0, "  counted");
	now += 11 * S;
	helper_failed(&f, ended(), user(1), true, now);
	ok(helper_avoids(&f, user(1), now + 39 * S) && !helper_avoids(&f, user(1), now + 41 * S), "then for 40 s");
	for (unsigned i = 0; i < 50; i++)
		helper_failed(&f, ended(), user(1), true, now += 41 * S);
	ok(helper_avoids(&f, user(1), now + 3599 * S) && !helper_avoids(&f, user(1), now + 3601 * S), "an hour at most");
	now += 3700 * S;
	helper_failed(&f, ended(), user(1), true, now);
	ok(!helper_avoids(&f, user(1), now + 11 * S), "an hour without a failure forgets them");
	ok(helper_may_start(&f, now + S), "fifty failures do not switch it off");
	ok(f.hung == 53 && f.crashed == 0, "all are counted");
}

static void crashes(void)
{
	struct helper_failures f = { 0 };
	uint64_t now = 100000 * S;

	helper_failed(&f, ended(), user(1), false, now);
	ok(!helper_may_start(&f, now) && helper_may_start(&f, now + S), "after a crash the next one starts after a moment");
	helper_failed(&f, ended(), user(1), false, now);
	ok(!helper_avoids(&f, user(1), now + S), "two crashes are forgiven");
	helper_failed(&f, ended(), user(1), false, now);
	ok(helper_avoids(&f, user(1), now + S) && !helper_avoids(&f, user(2), now + S), "the third is not");
	helper_failed(&f, ended(), 0, false, now);
	ok(f.crashed == 4 && helper_places_avoided(&f, now + S) == 1, "a crash at no file is counted, and blames none");
}

static void many(void)
{
	struct helper_failures f = { 0 };
	uint64_t now = 100000 * S;
	unsigned avoided = 0;

	for (uint64_t i = 0; i < 1000; i++)
		helper_failed(&f, ended(), user(i + 1), true, now += S / 1000);
	for (uint64_t i = 0; i < 1000; i++)
		avoided += helper_avoids(&f, user(i + 1), now);
	ok(avoided == HELPER_PLACES_MAX && helper_avoids(&f, user(1000), now), "of too many places the latest are avoided");
}

/* A process that a signal does not end, as one that waits for a file system: here a child that is not ours to wait for. */
static void lingering(void)
{
	struct helper_failures f = { 0 };
	uint64_t now = 100000 * S;
	int release[2];
	pid_t pid;
	char byte;

	if (pipe(release) < 0)
		return;
	pid = fork();
	if (pid == 0) {
		close(release[1]);
		_exit(read(release[0], &byte, 1) < 0);
	}
	f.lingering[0] = (struct helper_lingering){ pid, user(1) };
	ok(helper_avoids(&f, user(1), now) && !helper_avoids(&f, user(2), now), "the place of a helper that does not end is avoided");
	for (size_t i = 1; i < HELPERS_LINGERING_MAX - 1; i++)
		f.lingering[i] = (struct helper_lingering){ pid, user(1) };
	ok(helpers_lingering(&f) == HELPERS_LINGERING_MAX - 1 && !helper_may_start(&f, now), "too many of them: no other one is started");
	for (size_t i = 1; i < HELPERS_LINGERING_MAX; i++)
		f.lingering[i] = (struct helper_lingering){ 0 };
	ok(helper_may_start(&f, now), "  fewer: it is");
	close(release[1]);
	for (unsigned tries = 0; tries < 1000 && helper_avoids(&f, user(1), now); tries++)
		usleep(1000);
	ok(!helper_avoids(&f, user(1), now) && helpers_lingering(&f) == 0, "it ended: it is reaped, and its place is no longer avoided");
	close(release[0]);
}

static void used(void)
{
	struct helper_failures f = { 0 };
	uint64_t now = 100000 * S;

	helper_used(&f, user(1), S / 20, now);
	ok(!helper_avoids(&f, user(1), now), "0.05 s of CPU time are free");
	helper_used(&f, user(1), S, now);
	ok(helper_avoids(&f, user(1), now + 19 * S) && !helper_avoids(&f, user(1), now + 21 * S), "a second costs 20 s");
}

int main(void)
{
	used();
	places();
	times();
	crashes();
	many();
	lingering();
	return done();
}
