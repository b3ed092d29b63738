/* SPDX-License-Identifier: Apache-2.0 */
#include "common/filter/boot.h"

#include "common/filter/broker.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool boot_id(const char *proc, char id[BOOT_ID + 1])
{
	char path[256];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "%s/sys/kernel/random/boot_id", proc);
	fd = broker_open(AT_FDCWD, path, 0);
	got = fd >= 0 ? read(fd, id, BOOT_ID) : -1;
	if (fd >= 0)
		close(fd);
	id[got > 0 ? got : 0] = 0;
	if (got == BOOT_ID && strspn(id, "0123456789abcdefABCDEF-") == BOOT_ID)
		return true;
	id[0] = 0;
	return false;
}
