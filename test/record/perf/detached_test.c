/* CPUs whose events stand still although they are online, and those that are only suspected. record-hotplug-guest.t has
 * real ones. */
/* covers: record/perf/detached.c */
#include "record/perf/detached.c"
#include "test/lib/tap.h"

#include <fcntl.h>

/* Adds an event of a CPU. It is a pipe: each read() takes one of the n enabled times, and fails when there are no more.
 */
static void add(struct detached *detached, uint32_t cpu, const uint64_t *enabled, size_t n, size_t words)
{
	int end[2];

	if (pipe2(end, O_NONBLOCK | O_DIRECT | O_CLOEXEC) < 0) {
		ok(false, "a pipe");
		return;
	}
	for (size_t i = 0; i < n; i++) {
		uint64_t value[3] = { 7, enabled[i], 9 };

		if (write(end[1], value, words * sizeof(*value)) < 0)
			ok(false, "a value");
	}
	detached_add(detached, cpu, end[0]);
}

#define TIMES(...) (const uint64_t[]){ __VA_ARGS__ }, sizeof((uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t)

/* Starts the observation as if it had begun `ago` ns ago. */
static void begin(struct detached *detached, uint64_t ago)
{
	detached_start(detached);
	detached->looked -= ago;
}

static void check_growth(void)
{
	struct detached *detached = detached_new();

	/* reads of each detached_find: one, and a second one if any CPU is suspected */
	add(detached, 0, TIMES(2000 * 1000000UL), 3);
	add(detached, 1, TIMES(500 * 1000000UL, 500 * 1000000UL), 3);
	add(detached, 2, TIMES(500 * 1000000UL, 520 * 1000000UL), 3);
	add(detached, 3, TIMES(1999 * 1000000UL), 2);
	add(detached, 4, NULL, 0, 0);
	is_u64(detached_find(detached), 0, "nothing is found before the start");
	begin(detached, 2 * SECOND_NS);
	ok(!detached_suspended(detached), "this machine is not suspended while a test runs");
	is_u64(detached_find(detached), 1, "one of five CPUs is detached");
	ok(detached_has(detached, 1), "  the one whose enabled time stands still");
	ok(!detached_has(detached, 2), "  not one whose enabled time lags, but still grows");
	ok(!detached_has(detached, 0) && !detached_has(detached, 3),
	   "  not one whose time grew, in either format of read()");
	ok(!detached_has(detached, 4), "  not one that cannot be read");
	ok(!detached_has(detached, 5), "  not a CPU without an event");
	detached_remove(detached, 1);
	ok(!detached_has(detached, 1), "a removed CPU is not detached");
	add(detached, 1, TIMES(1, 30 * 1000000UL), 3);
	is_u64(detached_find(detached), 0, "its new event is not, either");
	detached_free(detached);
}

int main(void)
{
	check_growth();
	return done();
}
