/* SPDX-License-Identifier: Apache-2.0 */
#include "record/perf/detached.h"

#include "common/arena.h"
#include "common/clocks.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* the enabled time may grow by 1/TOLERANCE less than CLOCK_MONOTONIC before a CPU is suspected */
#define TOLERANCE 64
#define CONFIRM_NS 20000000   /* time between two reads of the event of a suspected CPU, several ticks of the kernel */
#define TRIES 5               /* maximum number of reads of both clocks */
#define SUSPENDED_NS 10000000 /* smallest difference of CLOCK_BOOTTIME and CLOCK_MONOTONIC that is a suspend */

struct observed {
	uint32_t cpu;
	int fd;
	bool suspected, detached;
	uint64_t enabled; /* time in ns for which the event was enabled, at the last detached_find */
};

struct detached {
	struct observed *observed;
	size_t n;
	bool started;
	/* CLOCK_MONOTONIC, and the time in suspend, in ns, at the last detached_find or detached_start */
	uint64_t looked, asleep;
};

struct detached *detached_new(void)
{
	return mem_alloc(sizeof(struct detached), 1);
}

void detached_free(struct detached *detached)
{
	if (!detached)
		return;
	free(detached->observed);
	free(detached);
}

void detached_remove(struct detached *detached, uint32_t cpu)
{
	for (size_t i = detached ? detached->n : 0; i-- > 0;)
		if (detached->observed[i].cpu == cpu)
			detached->observed[i] = detached->observed[--detached->n];
}

void detached_add(struct detached *detached, uint32_t cpu, int fd)
{
	detached_remove(detached, cpu);
	detached->observed = mem_grow(detached->observed, sizeof(*detached->observed), detached->n + 1);
	detached->observed[detached->n++] = (struct observed){ .cpu = cpu, .fd = fd };
}

/* Returns the time in ns that the machine has been suspended since its start. Reads the clocks again if much time
 * passed between both reads. */
static uint64_t time_asleep(void)
{
	uint64_t now, boot;
	int tries = 0;

	do {
		now = clock_now();
		boot = clock_since_boot();
	} while (clock_now() - now > SUSPENDED_NS / 2 && ++tries < TRIES);
	return boot > now ? boot - now : 0;
}

void detached_start(struct detached *detached)
{
	if (!detached)
		return;
	detached->started = true;
	detached->looked = clock_now();
	detached->asleep = time_asleep();
}

bool detached_suspended(const struct detached *detached)
{
	return detached && detached->started && time_asleep() > detached->asleep + SUSPENDED_NS;
}

/* Sets *ns to the time for which the event was enabled. Returns false if it cannot be read. */
static bool read_enabled(const struct observed *one, uint64_t *ns)
{
	uint64_t value[3]; /* the value of the counter, the time, and the number of lost samples since Linux 6.0 */

	if (read(one->fd, value, sizeof(value)) < (ssize_t)(2 * sizeof(*value)))
		return false;
	*ns = value[1];
	return true;
}

/* Suspects each event whose enabled time grew by less than `least` ns. Returns true if there is one. An event that
 * cannot be read is not suspected. */
static bool suspect(struct detached *detached, uint64_t least)
{
	bool any = false;

	for (size_t i = 0; i < detached->n; i++) {
		struct observed *one = detached->observed + i;
		uint64_t enabled;

		one->detached = one->suspected = false;
		if (!read_enabled(one, &enabled))
			continue;
		one->suspected = enabled - one->enabled < least;
		one->enabled = enabled;
		any |= one->suspected;
	}
	return any;
}

/* Marks the suspected events whose enabled time stands still. Returns their number. */
static size_t confirm(struct detached *detached)
{
	struct timespec pause = { .tv_nsec = CONFIRM_NS };
	size_t n = 0;

	while (nanosleep(&pause, &pause) < 0 && errno == EINTR)
		continue;
	for (size_t i = 0; i < detached->n; i++) {
		struct observed *one = detached->observed + i;
		uint64_t enabled;

		one->detached = one->suspected && read_enabled(one, &enabled) && enabled == one->enabled;
		n += one->detached;
	}
	return n;
}

size_t detached_find(struct detached *detached)
{
	uint64_t now = clock_now(), passed;
	bool suspended = detached_suspended(detached), any;

	if (!detached || !detached->started)
		return 0;
	passed = now - detached->looked;
	any = suspect(detached, suspended ? UINT64_MAX : passed - passed / TOLERANCE);
	detached->looked = now;
	detached->asleep = time_asleep();
	return any ? confirm(detached) : 0;
}

bool detached_has(const struct detached *detached, uint32_t cpu)
{
	for (size_t i = 0; detached && i < detached->n; i++)
		if (detached->observed[i].cpu == cpu)
			return detached->observed[i].detached;
	return false;
}
