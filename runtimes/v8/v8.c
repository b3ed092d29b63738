/* SPDX-License-Identifier: Apache-2.0 */
#include "runtimes/v8/v8.h"

#include <stdio.h>

bool v8_is_library(struct str path)
{
	struct str name = path;

	if (str_ends(name, STR(" (deleted)")))
		name.n -= sizeof(" (deleted)") - 1;
	name = str_from(name, (size_t)(str_rfind(name, '/') + 1));
	return str_eq(name, STR("node")) || str_eq(name, STR("nodejs")) || str_starts(name, STR("libnode.so."));
}

/* Stores the address ranges of executable mappings of files in v8->range. */
static void note_ranges(struct v8 *v8, struct str maps)
{
	while (maps.n && v8->nranges < V8_RANGES) {
		struct str line = str_cut(&maps, '\n'), start = str_cut(&line, '-'), end = str_cut(&line, ' '),
			   rights = str_cut(&line, ' ');
		struct v8_range range;

		if (rights.n > 2 && rights.p[2] == 'x' && str_find(line, '/') >= 0 && str_hex(start, &range.start) &&
		    str_hex(end, &range.end))
			v8->range[v8->nranges++] = range;
	}
}

enum v8_answer v8_open(struct v8 *v8, struct memory *memory, uint64_t base, struct str maps)
{
	const char *why;
	bool found;

	*v8 = (struct v8){ .memory = memory };
	note_ranges(v8, maps);
	why = loadedfile_open(&v8->file, memory, base);
	if (why) {
		snprintf(v8->why, sizeof(v8->why), "%s", why);
		return V8_REFUSED;
	}
	why = v8layout_read(&v8->file, &v8->layout, &found);
	if (!found)
		return V8_OTHER_FILE;
	if (!why)
		return V8_OPEN;
	snprintf(v8->why, sizeof(v8->why), "its V8 %u.%u.%u.%u is not supported (%s); start it with --perf-basic-prof",
		 v8->layout.version / 1000, v8->layout.version % 1000, v8->layout.build, v8->layout.patch, why);
	return V8_REFUSED;
}
