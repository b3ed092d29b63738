/* SPDX-License-Identifier: Apache-2.0 */
#include "common/process/program.h"

#include "common/text.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Returns FOLDER/NAME if that is an executable file, NULL otherwise. The caller frees the result. */
static char *program_joined(struct str folder, const char *name)
{
	struct text text = { 0 };
	struct stat status;

	text_str(&text, folder);
	text_char(&text, '/');
	text_add(&text, name);
	text_char(&text, 0);
	if (stat(text.p, &status) == 0 && S_ISREG(status.st_mode) && access(text.p, X_OK) == 0)
		return text.p;
	text_free(&text);
	return NULL;
}

char *program_find(const char *name)
{
	char self[4096];
	ssize_t got = readlink("/proc/self/exe", self, sizeof(self));
	struct str own = { self, got > 0 ? (size_t)got : 0 }, path = str_of(getenv("PATH"));
	ptrdiff_t slash = str_rfind(own, '/');
	char *found = slash > 0 ? program_joined(str_head(own, (size_t)slash), name) : NULL;

	while (!found && path.n) {
		struct str folder = str_cut(&path, ':');

		found = folder.n ? program_joined(folder, name) : NULL;
	}
	return found;
}
