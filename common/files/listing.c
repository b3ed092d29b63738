/* SPDX-License-Identifier: Apache-2.0 */
#include "common/files/listing.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

DIR *listing_open(int folder)
{
	return listing_take(openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

DIR *listing_take(int fd)
{
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	int error = errno;

	if (!dir && fd >= 0)
		close(fd);
	errno = error;
	return dir;
}
