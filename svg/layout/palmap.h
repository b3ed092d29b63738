/* SPDX-License-Identifier: Apache-2.0 */
/*
 * palmap.h - colours of names that stay the same over several runs: flamegraph.pl's palette.map.
 *
 * A line has the form `name->rgb(r,g,b)`. A name may contain `->`: the colour begins at the last `->rgb(`. If the file
 * has lines of another form, these are skipped and the file is never rewritten, so that a wrong file name on the
 * command line destroys nothing.
 */
#ifndef PJ_PALMAP_H
#define PJ_PALMAP_H

#include "common/intern.h"

struct palmap {
	const char *path;
	struct intern names;
	uint32_t *rgb; /* colour of each name, by id in `names` */
	uint32_t cap;
	uint64_t bad; /* number of lines without a valid colour */
	bool added;   /* true if names were added that are not in the file */
};

/* Reads the colours from the file `path`; a missing file is treated as empty. Warns about invalid lines, which are
 * skipped. Exits with a message if the file cannot be read or is not a regular file. */
void palmap_read(struct palmap *palmap, const char *path);

/* Parses one line into *name and *rgb. Returns NULL on success, else the reason (a static text). */
const char *palmap_parse(struct str line, struct str *name, uint32_t *rgb);

/* Sets *rgb to the stored colour of a name. If the name has no stored colour, stores *rgb as its colour. */
void palmap_colour(struct palmap *palmap, struct str name, uint32_t *rgb);

/* Replaces the file, with lines in the byte order of the names, if names were added. Only warns if the file had invalid
 * lines. */
void palmap_write(const struct palmap *palmap);
void palmap_free(struct palmap *palmap);

#endif
