/* SPDX-License-Identifier: Apache-2.0 */
/*
 * namedmapping.h - finds the program or library of a name in the text of /proc/PID/maps.
 *
 * The text is hostile: a process chooses the paths. Only executable mappings of files count, since a function can be
 * called in these only.
 */
#ifndef PJ_NAMEDMAPPING_H
#define PJ_NAMEDMAPPING_H

#include "common/str.h"

/* A mapping of a file. The strings are parts of the text. */
struct namedmapping {
	/* addresses as the text has them, "5581c9e00000-5581c9e01000" */
	struct str range;
	/* path without " (deleted)" */
	struct str path;
	uint32_t major, minor; /* device of the file */
	uint64_t inode;
	bool deleted; /* the path leads to no file, or to another one */
};

enum namedmapping_answer {
	NAMEDMAPPING_NONE,
	NAMEDMAPPING_ONE,
	NAMEDMAPPING_SEVERAL /* different files have this name */
};

/* Finds the first mapping of a file whose path ends in '/' and this name, and sets *mapping unless there is none. */
enum namedmapping_answer namedmapping_find(struct str maps, struct str name, struct namedmapping *mapping);

/* Returns true if both are mappings of one file. */
bool namedmapping_same(const struct namedmapping *a, const struct namedmapping *b);

#endif
