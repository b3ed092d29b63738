/* SPDX-License-Identifier: Apache-2.0 */
#include "send/spool/jmapscans.h"

#include "common/str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOBODY_NS (UINT64_C(60) * 1000000000)

/* Parses a file name "PID-START.jmap" and sets *pid. Returns false for other names. */
static bool jmapscans_pid_of(const char *name, uint64_t *pid)
{
	struct str string = str_of(name);

	return str_ends(string, STR(".jmap")) && str_u64(str_cut(&string, '-'), pid) && *pid > 0 && *pid < INT32_MAX;
}

static bool jmapscans_is_missing(int folder, const char *name, uint64_t end)
{
	struct stat status;
	uint64_t pid, seen;

	if (!jmapscans_pid_of(name, &pid) || fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !S_ISREG(status.st_mode) || status.st_mtim.tv_sec < 0)
		return false;
	seen = (uint64_t)status.st_mtim.tv_sec * 1000000000 + (uint64_t)status.st_mtim.tv_nsec;
	if (seen >= end || (end > NOBODY_NS && seen < end - NOBODY_NS))
		return false;
	return kill((pid_t)pid, 0) == 0 || errno == EPERM;
}

unsigned jmapscans_missing(int dir, const char *boot, uint64_t end)
{
	char path[64];
	int fd;
	DIR *folder;
	const struct dirent *entry;
	unsigned n = 0;

	snprintf(path, sizeof(path), "maps/%.40s", boot);
	fd = openat(dir, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	folder = fd < 0 ? NULL : fdopendir(fd);
	if (!folder) {
		if (fd >= 0)
			close(fd);
		return 0;
	}
	while ((entry = readdir(folder)))
		n += jmapscans_is_missing(fd, entry->d_name, end);
	closedir(folder);
	return n;
}
