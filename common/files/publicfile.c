/* SPDX-License-Identifier: Apache-2.0 */
#include "common/files/publicfile.h"

#include <limits.h>
#include <sys/stat.h>

bool publicfile_is(struct str path)
{
	char text[PATH_MAX];
	struct stat status;

	if (path.n == 0 || path.n >= sizeof(text) || path.p[0] != '/')
		return false;
	for (size_t i = 0; i < path.n; i++) {
		text[i] = path.p[i];
		text[i + 1] = 0;
		if (path.p[i] == '/' && (stat(text, &status) < 0 || !(status.st_mode & S_IXOTH)))
			return false;
	}
	return stat(text, &status) == 0 && (status.st_mode & S_IROTH);
}
