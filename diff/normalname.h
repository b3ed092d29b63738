/* SPDX-License-Identifier: Apache-2.0 */
/*
 * normalname.h - normalizes the name of a function: removes the parts that differ from build to build or from run to
 * run.
 *
 * Suffixes of kinds are removed and stored separately (kernel code remains another function); so are clones that
 * compilers make of parts of a function, and the numbers and addresses of classes that a JVM makes at run time.
 */
#ifndef PJ_NORMALNAME_H
#define PJ_NORMALNAME_H

#include "common/text.h"

enum normalname_kind {
	NORMALNAME_JIT,
	NORMALNAME_INLINED,
	NORMALNAME_C1,
	NORMALNAME_INTERPRETED,
	NORMALNAME_NATIVE,
	NORMALNAME_KINDS
};

struct normalname {
	bool exact;     /* do not change names */
	bool strip_hex; /* replace hexadecimal numbers: 0x1f becomes 0x... */
	struct text text;
	struct text hex;
};

/* Returns the normalized name of a frame, valid until the next call. *kind is the kind whose suffix was removed;
 * NORMALNAME_NATIVE if none was. */
struct str normalname_name(struct normalname *normal, struct str frame, enum normalname_kind *kind);

struct str normalname_suffix(enum normalname_kind kind);

void normalname_free(struct normalname *normal);

#endif
