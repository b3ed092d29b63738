/* SPDX-License-Identifier: Apache-2.0 */
/* backoff_test.c - helpers that fail or are slow: whose files are left alone, for how long, and that nothing is off for
 * good. */
/* covers: common/process/backoff.c */
#include "common/process/backoff.h"

#include "common/clocks.h"
#include "test/lib/tap.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define S SECOND_NS
#define MS UINT64_C(1000000)
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
	return backoff_place(&(struct tenant){ TENANT_USER, uid }, OWN, 5);
}

static void places(void)
{
	struct tenant host = { TENANT_MOUNT_NS, OWN }, other = { TENANT_MOUNT_NS, 78 },
		      container = { TENANT_CONTAINER, 1 };

	ok(backoff_place(&host, OWN, 1) != backoff_place(&host, OWN, 2), "devices of the host are places of their own");
	ok(backoff_place(&other, OWN, 1) == backoff_place(&other, OWN, 2), "another mount namespace is one place");
	ok(backoff_place(&container, OWN, 1) == backoff_place(&container, OWN, 2),
	   "a container is one place, whatever it mounts");
	ok(user(1) != user(2) && user(1) != backoff_place(&container, OWN, 1), "tenants are different places");
}

static void times(void)
{
	struct backoff f = { 0 };
	uint64_t now = 100000 * S;

	ok(backoff_may_start(&f, now) && !backoff_avoids(&f, user(1), now), "nothing is avoided at first");
	backoff_failed(&f, ended(), user(1), true, now);
	ok(backoff_may_start(&f, now), "the next helper starts at once");
	ok(backoff_avoided_until(&f, user(1), now) == now + 10 * S && backoff_avoided_until(&f, user(2), now) == 0,
	   "  until then");
	ok(backoff_avoids(&f, user(1), now + 9 * S) && !backoff_avoids(&f, user(1), now + 11 * S),
	   "a place is avoided for 10 s");
	ok(!backoff_avoids(&f, user(2), now + S), "  another one is not");
	ok(backoff_places_avoided(&f, now + S) == 1 && backoff_places_avoided(&f, now + 11 * S) == 0, "  counted");
	now += 11 * S;
	backoff_failed(&f, ended(), user(1), true, now);
	ok(backoff_avoids(&f, user(1), now + 39 * S) && !backoff_avoids(&f, user(1), now + 41 * S), "then for 40 s");
	for (unsigned i = 0; i < 50; i++)
		backoff_failed(&f, ended(), user(1), true, now += 41 * S);
	ok(backoff_avoids(&f, user(1), now + 3599 * S) && !backoff_avoids(&f, user(1), now + 3601 * S),
	   "an hour at most");
	now += 3700 * S;
	backoff_failed(&f, ended(), user(1), true, now);
	ok(!backoff_avoids(&f, user(1), now + 11 * S), "an hour without a failure forgets them");
	ok(backoff_may_start(&f, now + S), "fifty failures do not switch it off");
	ok(f.hung == 53 && f.crashed == 0, "all are counted");
}

static void crashes(void)
{
	struct backoff f = { 0 };
	uint64_t now = 100000 * S;

	backoff_failed(&f, ended(), user(1), false, now);
	ok(!backoff_may_start(&f, now) && backoff_may_start(&f, now + S),
	   "after a crash the next one starts after a moment");
	backoff_failed(&f, ended(), user(1), false, now);
	ok(!backoff_avoids(&f, user(1), now + S), "two crashes are forgiven");
	backoff_failed(&f, ended(), user(1), false, now);
	ok(backoff_avoids(&f, user(1), now + S) && !backoff_avoids(&f, user(2), now + S), "the third is not");
	backoff_failed(&f, ended(), 0, false, now);
	ok(f.crashed == 4 && backoff_places_avoided(&f, now + S) == 1,
	   "a crash at no file is counted, and blames none");
}

static void many(void)
{
	struct backoff f = { 0 };
	uint64_t now = 100000 * S;
	unsigned avoided = 0;

	for (uint64_t i = 0; i < 1000; i++)
		backoff_failed(&f, ended(), user(i + 1), true, now += S / 1000);
	for (uint64_t i = 0; i < 1000; i++)
		avoided += backoff_avoids(&f, user(i + 1), now);
	ok(avoided == BACKOFF_PLACES_MAX && backoff_avoids(&f, user(1000), now),
	   "of too many places the latest are avoided");
}

/* A process that a signal does not end, as one that waits for a file system: here a child that is not ours to wait for.
 */
static void lingering(void)
{
	struct backoff f = { 0 };
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
	f.lingering[0] = (struct backoff_lingering){ pid, user(1) };
	ok(backoff_avoids(&f, user(1), now) && !backoff_avoids(&f, user(2), now),
	   "the place of a helper that does not end is avoided");
	for (size_t i = 1; i < BACKOFF_LINGERING_MAX - 1; i++)
		f.lingering[i] = (struct backoff_lingering){ pid, user(1) };
	ok(backoff_lingering(&f) == BACKOFF_LINGERING_MAX - 1 && !backoff_may_start(&f, now),
	   "too many of them: no other one is started");
	for (size_t i = 1; i < BACKOFF_LINGERING_MAX; i++)
		f.lingering[i] = (struct backoff_lingering){ 0 };
	ok(backoff_may_start(&f, now), "  fewer: it is");
	close(release[1]);
	for (unsigned tries = 0; tries < 1000 && backoff_avoids(&f, user(1), now); tries++)
		usleep(1000);
	ok(!backoff_avoids(&f, user(1), now) && backoff_lingering(&f) == 0,
	   "it ended: it is reaped, and its place is no longer avoided");
	close(release[0]);
}

static void rests(void)
{
	struct backoff b = { 0 };
	uint64_t slow = user(1000), other = user(1001), max = BACKOFF_SHARE * BACKOFF_BLOCKED_MAX_NS;
	unsigned many = 0;

	backoff_blocked(&b, slow, 1000 * MS, 0);
	ok(!backoff_rests(&b, slow, 0), "a second at once is free");
	backoff_blocked(&b, slow, 100 * MS, 0);
	ok(backoff_rests(&b, slow, 399 * MS) && !backoff_rests(&b, slow, 400 * MS), "100 ms more cost 400");
	ok(!backoff_rests(&b, other, 0) && !backoff_avoids(&b, slow, 0), "for that place only, and no failure");
	for (uint64_t i = 0; i < 1000; i++)
		backoff_blocked(&b, other, 250 * MS, i * 1000 * MS);
	ok(!backoff_rests(&b, other, 1000 * 1000 * MS), "a quarter of the time is free for ever");
	for (uint64_t i = 0; i < 1000; i++)
		backoff_blocked(&b, slow, i % 2 ? UINT64_MAX : 1000 * MS, 0);
	ok(backoff_rests(&b, slow, max - 5000 * MS) && !backoff_rests(&b, slow, max - 4000 * MS),
	   "four minutes at most");
	for (uint64_t i = 0; i < 10000; i++)
		backoff_blocked(&b, user(i + 2000), 1100 * MS, 0);
	for (uint64_t i = 0; i < 10000; i++)
		many += backoff_rests(&b, user(i + 2000), 0);
	ok(many < BACKOFF_PLACES_MAX && backoff_rests(&b, slow, 1000 * MS),
	   "many others do not end the rest of the slowest");
	backoff_failed(&b, ended(), slow, true, 0);
	backoff_blocked(&b, slow, 2000 * MS, 300 * S);
	ok(backoff_rests(&b, slow, 300 * S) && backoff_avoided_until(&b, slow, 5 * S) == 10 * S,
	   "failures and slowness of a place are two counts");
}

int main(void)
{
	rests();
	places();
	times();
	crashes();
	many();
	lingering();
	return done();
}
