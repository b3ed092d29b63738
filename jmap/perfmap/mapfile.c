/* SPDX-License-Identifier: Apache-2.0 */
#include "jmap/perfmap/mapfile.h"

#include "common/files/fullio.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* Creates a temporary file and stores its name in `name`. The name is random, so that other users, who may write to
 * /tmp, cannot create the file first. Returns a descriptor, or -1 and errno. */
static int create_temporary(int dir, char *name, size_t size)
{
	for (int attempt = 0; attempt < 16; attempt++) {
		uint64_t random;
		int fd;

		if (getrandom(&random, sizeof(random), 0) != sizeof(random))
			return -1;
		snprintf(name, size, ".pjmap-%016llx.tmp", (unsigned long long)random);
		fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd >= 0 || errno != EEXIST)
			return fd;
	}
	return -1;
}

/* Copies n bytes from descriptor `from` to the temporary file fd, then changes its owner: until then only pjmap's user
 * can open the file. durable: true if the file must survive a crash of the machine. Returns false and sets errno on
 * failure. */
static bool mapfile_fill(int fd, int from, uint64_t n, const struct taskid_user *owner, bool durable)
{
	if (fchmod(fd, 0600) < 0 || !fullio_copy(fd, from, n))
		return false;
	if (fchown(fd, owner->uid, owner->gid) < 0 && errno != EPERM && errno != EINVAL)
		/* EPERM (this process has no CAP_CHOWN) and EINVAL (the user does not exist in this user namespace) are
		 * no failures. */
		return false;
	return !durable || fsync(fd) == 0;
}

const char *mapfile_put(const char *dir, const char *name, int from, uint64_t n, const struct taskid_user *owner,
			bool durable)
{
	char temporary[64];
	const char *what = NULL;
	int folder = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC), fd, saved;

	if (folder < 0)
		return "cannot open";
	fd = create_temporary(folder, temporary, sizeof(temporary));
	if (fd < 0) {
		what = "cannot write to";
	} else {
		if (!mapfile_fill(fd, from, n, owner, durable))
			what = "cannot write to";
		saved = errno;
		if (close(fd) < 0 && !what) {
			what = "cannot write to";
			saved = errno;
		}
		if (!what && renameat(folder, temporary, folder, name) < 0) {
			what = "cannot replace it in";
			saved = errno;
		}
		if (what)
			unlinkat(folder, temporary, 0);
		errno = saved;
	}
	saved = errno;
	close(folder);
	errno = saved;
	return what;
}
