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
	uint64_t bad; /* lines that are no colours */
	bool added;   /* there are names that the file has not */
};

/* A file that is not there is an empty one. Bad lines are named. */
void palmap_read(struct palmap *palmap, const char *path);

/* One line; NULL, or why it is none: a static text. */
const char *palmap_parse(struct str line, struct str *name, uint32_t *rgb);

/* The colour of a name: the one it has, or from now on *rgb. */
void palmap_colour(struct palmap *palmap, struct str name, uint32_t *rgb);

/* Replaces the file, sorted by bytes, when something was added. */
void palmap_write(const struct palmap *palmap);
void palmap_free(struct palmap *palmap);

#endif
