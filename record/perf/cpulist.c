/* SPDX-License-Identifier: Apache-2.0 */
#include "record/perf/cpulist.h"

#include "common/arena.h"

#include <fcntl.h>
#include <unistd.h>

#define ONLINE "/sys/devices/system/cpu/online"

uint32_t *cpulist_parse(struct str string, size_t *n)
{
	uint32_t *cpu = NULL;

	*n = 0;
	while ((string = str_trim(string)).n && string.p[0] != '\n') {
		struct str range = str_cut(&string, ','), from;
		uint64_t lo, hi;

		if (range.n && range.p[range.n - 1] == '\n')
			range.n--;
		from = str_cut(&range, '-');
		if (!str_u64(from, &lo) || (range.n && !str_u64(range, &hi)))
			continue;
		hi = range.n ? hi : lo;
		for (; lo <= hi && *n < 65536; lo++) {
			cpu = mem_grow(cpu, sizeof(*cpu), *n + 1);
			cpu[(*n)++] = (uint32_t)lo;
		}
	}
	return cpu;
}

uint32_t *cpulist_online(size_t *n)
{
	char text[4096];
	int fd = open(ONLINE, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof(text));

	if (fd >= 0)
		close(fd);
	if (got > 0)
		return cpulist_parse((struct str){ text, (size_t)got }, n);
	/* without /sys, as in some containers, assume the CPU numbers 0 to n - 1 */
	*n = (size_t)sysconf(_SC_NPROCESSORS_ONLN);
	uint32_t *cpu = mem_alloc(sizeof(*cpu), *n);
	for (size_t i = 0; i < *n; i++)
		cpu[i] = (uint32_t)i;
	return cpu;
}

bool cpulist_has(const uint32_t *cpu, size_t n, uint32_t which)
{
	for (size_t i = 0; i < n; i++)
		if (cpu[i] == which)
			return true;
	return false;
}
