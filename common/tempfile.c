/* SPDX-License-Identifier: Apache-2.0 */
#include "tempfile.h"

#include "str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define ATTEMPTS_MAX 16
#define DIGITS 16
#define STALE_AGE 3600 /* s */

int tempfile_create(int folder, mode_t mode, char name[TEMPFILE_NAME])
{
	for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
		uint64_t random;
		int fd;

		if (getrandom(&random, sizeof(random), 0) != sizeof(random))
			return -1;
		snprintf(name, TEMPFILE_NAME, ".%0*llx.tmp", DIGITS, (unsigned long long)random);
		fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
		if (fd >= 0 || errno != EEXIST)
			return fd;
	}
	return -1;
}

static bool is_tempfile(const char *name)
{
	struct str s = str_of(name);

	if (s.n != 1 + DIGITS + 4 || s.p[0] != '.' || !str_ends(s, STR(".tmp")))
		return false;
	for (size_t i = 1; i <= DIGITS; i++)
		if (!byte_is_hex(s.p[i]))
			return false;
	return true;
}

void tempfile_sweep(int folder)
{
	int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	time_t now = time(NULL);
	const struct dirent *e;
	struct stat st;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((e = readdir(dir)))
		if (is_tempfile(e->d_name) && fstatat(folder, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
		    st.st_mtime < now - STALE_AGE)
			unlinkat(folder, e->d_name, 0);
	closedir(dir);
}
