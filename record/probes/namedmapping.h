/* SPDX-License-Identifier: Apache-2.0 */
/*
 * namedmapping.h - finds the program or library with a given name in the text of /proc/PID/maps.
 *
 * The text is hostile input: a process chooses the paths. Only executable mappings of files are searched, because only
 * their functions can be called.
 */
#ifndef PJ_NAMEDMAPPING_H
#define PJ_NAMEDMAPPING_H

#include "common/str.h"

/* A mapping of a file. The strings are parts of the text. */
struct namedmapping {
	/* address range in the form of maps, such as "5581c9e00000-5581c9e01000" */
	struct str range;
	/* path without " (deleted)" */
	struct str path;
	uint32_t major, minor; /* device of the file */
	uint64_t inode;
	bool deleted; /* true if the path has the suffix " (deleted)": it leads to no file, or to another one */
};

enum namedmapping_answer {
	NAMEDMAPPING_NONE,
	NAMEDMAPPING_ONE,
	NAMEDMAPPING_SEVERAL /* different files have this name; *mapping is one of them */
};

/* Sets *mapping to the first mapping of a file whose path ends with '/' and `name`. Returns NAMEDMAPPING_NONE, without
 * setting *mapping, if there is no such file, and NAMEDMAPPING_SEVERAL if there are different ones. */
enum namedmapping_answer namedmapping_find(struct str maps, struct str name, struct namedmapping *mapping);

/* Returns true if mappings a and b are of the same file (device and inode). */
bool namedmapping_same(const struct namedmapping *a, const struct namedmapping *b);

#endif
