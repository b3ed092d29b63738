/* SPDX-License-Identifier: Apache-2.0 */
#include "confine.h"

#include "sandbox.h"
#include "text.h"

#include <stdlib.h>

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

const char *confine(const struct confine *c)
{
	const char *writable[3 * CONFINE_FILES + 1] = { 0 };
	char *made[2 * CONFINE_FILES];
	size_t n = 0, nmade = 0;
	unsigned missing;

	for (size_t i = 0; i < CONFINE_FILES; i++) {
		char *real = c->output[i] ? realpath(c->output[i], NULL) : NULL; /* of a link, the file that it leads to */

		if (c->output[i])
			writable[n++] = made[nmade++] = folder_of(c->output[i]);
		if (real)
			writable[n++] = made[nmade++] = folder_of(real);
		if (c->folder[i])
			writable[n++] = c->folder[i];
		free(real);
	}
	missing = sandbox_enter(&(struct sandbox){ .groups = SANDBOX_FILTER, .writable = writable, .keep_capabilities = !c->unprivileged });
	while (nmade)
		free(made[--nmade]);
	return sandbox_missing(missing);
}
