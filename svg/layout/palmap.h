/* SPDX-License-Identifier: Apache-2.0 */
/*
 * palmap.h - colours that stay: flamegraph.pl's palette.map, lines of `name->rgb(r,g,b)`.
 *
 * Names may hold `->`: the last `->rgb(` counts. A file that holds anything else is read as far as it goes and never
 * rewritten, so that a wrong name on the command line destroys nothing.
 */
#ifndef PJ_PALMAP_H
#define PJ_PALMAP_H

#include "common/intern.h"

struct palmap {
	const char *path;
	struct intern names;
	uint32_t *rgb; /* by id of names */
	uint32_t cap;
	uint64_t bad; /* number of lines that are no colours */
	bool added;   /* it has names that are not in the file */
};

/* Reads the file; a missing file is an empty one. Warns of bad lines. */
void palmap_read(struct palmap *palmap, const char *path);

/* Parses one line. Returns NULL, or the reason why it is invalid, a static text. */
const char *palmap_parse(struct str line, struct str *name, uint32_t *rgb);

/* Returns the stored colour of a name; stores *rgb if it has none. */
void palmap_colour(struct palmap *palmap, struct str name, uint32_t *rgb);

/* Replaces the file, sorted by bytes, if a name was added. */
void palmap_write(const struct palmap *palmap);
void palmap_free(struct palmap *palmap);

#endif
