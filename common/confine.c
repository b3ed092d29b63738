/* SPDX-License-Identifier: Apache-2.0 */
#include "confine.h"

#include "outpath.h"
#include "sandbox.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>

/* The folder that holds a file, as a C string. */
static char *folder_of(const char *path)
{
	struct text t = { 0 };
	ptrdiff_t slash = str_rfind(str_of(path), '/');

	if (slash < 0)
		text_add(&t, ".");
	else
		text_str(&t, (struct str){ path, slash ? (size_t)slash : 1 });
	text_char(&t, 0);
	return t.p;
}

/* The folders in which an output is written, as C strings: that to which links lead (outpath.h). Returns how many. Close `place`
 * once they are open. */
static size_t folders_of(const char *output, struct outpath *place, char *folder[2])
{
	struct text t = { 0 };
	size_t n = 0;
	char *real;

	*place = (struct outpath){ .folder = -1, .fd = -1 };
	if (strcmp(output, "-") == 0 || !outpath_resolve(place, output))
		return 0; /* it will be refused, too, when it is to be written */
	if (!place->magic) {
		text_printf(&t, "/proc/self/fd/%d%c", place->folder, 0);
		folder[n++] = t.p;
		return n;
	}
	real = realpath(output, NULL);
	folder[n++] = folder_of(output);
	if (real)
		folder[n++] = folder_of(real);
	free(real);
	return n;
}

const char *confine(const struct confine *c)
{
	const char *writable[3 * CONFINE_FILES + 1] = { 0 };
	struct outpath place[CONFINE_FILES];
	char *made[2 * CONFINE_FILES];
	size_t n = 0, nmade = 0;
	unsigned missing;

	for (size_t i = 0; i < CONFINE_FILES; i++) {
		size_t folders = c->output[i] ? folders_of(c->output[i], &place[i], made + nmade) : 0;

		while (folders--)
			writable[n++] = made[nmade++];
		if (c->folder[i])
			writable[n++] = c->folder[i];
	}
	missing = sandbox_enter(&(struct sandbox){ .groups = SANDBOX_FILTER, .writable = writable, .keep_capabilities = !c->unprivileged });
	while (nmade)
		free(made[--nmade]);
	for (size_t i = 0; i < CONFINE_FILES; i++)
		if (c->output[i])
			outpath_close(&place[i]);
	return sandbox_missing(missing);
}
