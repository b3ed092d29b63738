/* SPDX-License-Identifier: Apache-2.0 */
#include "common/filter/confine.h"

#include "common/arena.h"
#include "common/filter/broker.h"
#include "common/diag.h"
#include "common/filter/out.h"
#include "common/files/outpath.h"
#include "common/process/sandbox.h"
#include "common/text.h"

#include <stdlib.h>
#include <string.h>

/* Returns the folder part of a path as a C string, which the caller frees. */
static char *confine_folder_of(const char *path)
{
	struct text text = { 0 };
	ptrdiff_t slash = str_rfind(str_of(path), '/');

	if (slash < 0)
		text_add(&text, ".");
	else
		text_str(&text, (struct str){ path, slash ? (size_t)slash : 1 });
	text_char(&text, 0);
	return text.p;
}

/* Stores in folder[] the folders in which the broker must write for an output: the folder of the path, and for a magic
 * link also the folder of its target. Returns the number of folders. The caller frees the strings. The strings refer to
 * descriptors of *place, which the caller closes once the folders are opened. */
static size_t folders_of(const char *output, struct outpath *place, char *folder[2])
{
	struct text text = { 0 };
	size_t n = 0;
	char *real;

	*place = (struct outpath){ .folder = -1, .fd = -1 };
	if (strcmp(output, "-") == 0 || !outpath_resolve(place, output))
		return 0; /* standard output, or a path that cannot be resolved: no folder to allow */
	if (!place->magic) {
		text_printf(&text, "/proc/self/fd/%d%c", place->folder, 0);
		folder[n++] = text.p;
		return n;
	}
	real = realpath(output, NULL);
	folder[n++] = confine_folder_of(output);
	if (real)
		folder[n++] = confine_folder_of(real);
	free(real);
	return n;
}

/* Returns the paths of `more` (with NULL at the end) and `few` (NULL elements are skipped) as one list with NULL at the
 * end. The caller frees the list; the broker has its own copy after the fork. */
static const char **paths_of(char *const *more, const char *const few[CONFINE_FILES])
{
	size_t n = 0;
	const char **all;

	for (char *const *p = more; p && *p; p++)
		n++;
	all = mem_alloc(sizeof(*all), n + CONFINE_FILES + 1);
	n = 0;
	for (char *const *p = more; p && *p; p++)
		all[n++] = *p;
	for (size_t i = 0; i < CONFINE_FILES; i++)
		if (few[i])
			all[n++] = few[i];
	return all;
}

/* Returns true if the filter needs no broker: it writes to standard output, and its only inputs are standard input and
 * regular files, which this function then opens. With --unprivileged, files need a broker, because this process still
 * has its capabilities and the broker has given them up. */
static bool opens_nothing(const struct confine *confinement, const char *const *input, const char *const *output)
{
	size_t n = 0;

	if (confinement->reads_others || *output)
		return false;
	for (size_t i = 0; i < CONFINE_FILES; i++)
		if (confinement->file[i])
			return false;
	while (input[n] && strcmp(input[n], "-") == 0)
		n++;
	return !input[n] || (!confinement->unprivileged && broker_open_inputs(input));
}

static void start_broker(const struct confine *confinement, const char *const *input, const char *const *output)
{
	const char *writable[3 * CONFINE_FILES + 1] = { 0 };
	struct outpath place[CONFINE_FILES];
	char *made[2 * CONFINE_FILES];
	size_t n = 0, nmade = 0;

	for (size_t i = 0; i < CONFINE_FILES; i++) {
		size_t folders =
			confinement->output[i] ? folders_of(confinement->output[i], &place[i], made + nmade) : 0;

		while (folders--)
			writable[n++] = made[nmade++];
		if (confinement->folder[i])
			writable[n++] = confinement->folder[i];
	}
	if (!broker_start(&(struct broker){ .input = input,
					    .output = output,
					    .writable = writable,
					    .unprivileged = confinement->unprivileged }))
		die_errno("cannot start the process that opens files");
	while (nmade)
		free(made[--nmade]);
	for (size_t i = 0; i < CONFINE_FILES; i++)
		if (confinement->output[i])
			outpath_close(&place[i]);
}

void confine(const struct confine *confinement)
{
	const char **input = paths_of(confinement->input, confinement->file),
		   **output = paths_of(NULL, confinement->output);

	if (*output)
		out_prepare();
	if (!opens_nothing(confinement, input, output))
		start_broker(confinement, input, output);
	free(input);
	free(output);
	sandbox_warn(sandbox_enter(&(struct sandbox){ .groups = SANDBOX_FILTER | SANDBOX_MESSAGES |
								(confinement->threads ? SANDBOX_THREADS : 0) }));
}
