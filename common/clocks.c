/* SPDX-License-Identifier: Apache-2.0 */
#include "common/clocks.h"

#include <time.h>

static uint64_t clocks_read_clock(clockid_t id)
{
	struct timespec spec = { 0 };

	clock_gettime(id, &spec);
	return (uint64_t)spec.tv_sec * SECOND_NS + (uint64_t)spec.tv_nsec;
}

uint64_t clock_now(void)
{
	return clocks_read_clock(CLOCK_MONOTONIC);
}

uint64_t clock_wall(void)
{
	return clocks_read_clock(CLOCK_REALTIME);
}

uint64_t clock_since_boot(void)
{
	return clocks_read_clock(CLOCK_BOOTTIME);
}

uint64_t clock_thread_cpu(void)
{
	return clocks_read_clock(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t clock_now_ms(void)
{
	return clock_now() / 1000000;
}

uint64_t clock_wall_of(uint64_t ns)
{
	return clock_wall() - (clock_now() - ns);
}

uint64_t clock_next(uint64_t now, uint64_t wall, uint64_t window_ns)
{
	return now + window_ns - wall % window_ns;
}

uint64_t clock_border(uint64_t begin, uint64_t wall, uint64_t window_ns, bool align)
{
	if (!window_ns)
		return UINT64_MAX;
	if (!align)
		return begin + window_ns;
	return clock_next(begin, wall, window_ns) + (wall % window_ns > window_ns / 2 ? window_ns : 0);
}
