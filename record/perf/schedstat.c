/* SPDX-License-Identifier: Apache-2.0 */
#include "record/perf/schedstat.h"

#include "common/str.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int schedstat_open(pid_t pid)
{
	char path[64] = "/proc/self/schedstat";

	if (pid)
		snprintf(path, sizeof(path), "/proc/%d/schedstat", (int)pid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

bool schedstat_read(int fd, struct schedstat *schedstat)
{
	char buf[128];
	ssize_t got = fd >= 0 ? pread(fd, buf, sizeof(buf), 0) : -1;
	struct str text = { buf, got > 0 ? (size_t)got : 0 };
	uint64_t ran, waited;

	if (!str_u64(str_cut(&text, ' '), &ran) || !str_u64(str_cut(&text, ' '), &waited))
		return false;
	*schedstat = (struct schedstat){ ran, waited };
	return true;
}
