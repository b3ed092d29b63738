/* SPDX-License-Identifier: Apache-2.0 */
/* Files that each user may read, by their modes and those of their folders. */
/* covers: common/files/publicfile.c */
#include "common/files/publicfile.h"

#include "test/lib/tap.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/pj-publicfile.XXXXXX";

/* Returns publicfile_is for `name` in the folder, after the modes are set. */
static bool is_public(const char *name, mode_t folder_mode, mode_t file_mode)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/file", folder);
	chmod(folder, folder_mode);
	chmod(path, file_mode);
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return publicfile_is(str_of(path));
}

int main(void)
{
	char path[64];
	int fd;

	if (!mkdtemp(folder))
		return 1;
	snprintf(path, sizeof(path), "%s/file", folder);
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	if (fd < 0 || close(fd) < 0)
		return 1;
	ok(is_public("file", 0711, 0604), "a file that others may read, in a folder that they may pass");
	ok(!is_public("file", 0711, 0660), "a file that others may not read");
	ok(!is_public("file", 0710, 0644), "a folder that others may not pass");
	ok(!is_public("none", 0711, 0644), "no file");
	ok(!publicfile_is(STR("")) && !publicfile_is(STR("tmp")), "no absolute path");
	ok(publicfile_is(STR("/usr/bin/env")), "a program of the system");
	unlink(path);
	rmdir(folder);
	return done();
}
