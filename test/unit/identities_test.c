/* Facts of processes from /proc, and processes whose /proc does not answer. */
#include "record/identities.h"
#include "clocks.h"
#include "tap.h"

#include <stdatomic.h>
#include <unistd.h>

static atomic_bool hang;

/* PID 7 does not answer while hang is set; 8 has ended. */
static bool fake_read(uint32_t pid, struct identity *found)
{
	while (pid == 7 && hang)
		usleep(1000);
	*found = (struct identity){ .start_ticks = pid };
	return pid != 8;
}

static void check_real(void)
{
	struct identities *i = identities_new();
	struct identity found = { 0 };

	ok(identities_find(i, (uint32_t)getpid(), &found), "this process");
	ok(found.start_ticks && found.mount_ns, "  its start and mount namespace");
	is_u64(found.inner_pid, (uint64_t)getpid(), "  its PID");
	ok(!identities_find(i, 4194305, &found), "one that is not there");
	is_u64(identities_left(i), 0, "  no thread is left behind");
	identities_free(i);
}

static unsigned await_left(struct identities *i)
{
	for (int k = 0; k < 5000 && identities_left(i); k++)
		usleep(1000);
	return identities_left(i);
}

static void check_hang(void)
{
	struct identities *i = identities_new();
	struct identity found = { 0 };
	uint64_t before, took;
	unsigned good = 0;

	identities_reader(i, fake_read);
	ok(!identities_find(i, 8, &found), "a process that has ended");
	hang = true;
	before = clock_now();
	for (unsigned k = 0; k < 1000; k++)
		identities_find(i, 7, &found);
	took = clock_now() - before;
	ok(took < 3 * SECOND_NS, "1,000 lookups of a process that does not answer do not wait for it");
	ok(identities_left(i) >= 1 && identities_left(i) <= IDENTITY_LEFT_MAX, "  threads are left behind, a limited number");
	usleep(1100000);
	for (unsigned k = 0; k < 20; k++) /* a loaded machine may let one miss its time */
		good += identities_find(i, 9, &found) && found.start_ticks == 9;
	ok(good > 0, "  others are looked up");
	hang = false;
	is_u64(await_left(i), 0, "  and no thread is left when it answers");
	hang = true;
	usleep(1100000);
	identities_find(i, 7, &found);
	identities_free(i);
	hang = false;
	usleep(100000);
	ok(true, "  nor is the last one waited for");
}

int main(void)
{
	check_real();
	check_hang();
	return done();
}
