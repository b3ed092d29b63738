/* SPDX-License-Identifier: Apache-2.0 */
/*
 * palmap.h - colours that remain the same from run to run: flamegraph.pl's palette.map, lines of `name->rgb(r,g,b)`.
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
	uint32_t *rgb; /* colour of each name, by id in names */
	uint32_t cap;
	uint64_t bad; /* number of lines that have no valid colour */
	bool added;   /* true if names were added that are not in the file */
};

/* Reads the file at path; a missing file counts as an empty one. Warns of invalid lines. */
void palmap_read(struct palmap *palmap, const char *path);

/* Parses one line into *name and *rgb. Returns NULL, or the reason why the line is invalid (a static text). */
const char *palmap_parse(struct str line, struct str *name, uint32_t *rgb);

/* Sets *rgb to the stored colour of a name. If the name has none, stores *rgb as its colour. */
void palmap_colour(struct palmap *palmap, struct str name, uint32_t *rgb);

/* Replaces the file, with the lines in byte order, if a name was added and all its lines were valid. */
void palmap_write(const struct palmap *palmap);
void palmap_free(struct palmap *palmap);

#endif
