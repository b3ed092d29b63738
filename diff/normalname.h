/* SPDX-License-Identifier: Apache-2.0 */
/*
 * normalname.h - normalizes the name of a function: removes the parts that differ from build to build or from run to
 * run.
 *
 * Removed are: the suffix of a compiled, inlined or interpreted frame, which normalname_name returns as a kind;
 * suffixes of clones that compilers make of a function; numbers and addresses of classes that a JVM generates at run
 * time. The suffix of kernel code stays, because a kernel function and a user function of the same name are different
 * functions.
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
	bool exact;     /* true: names are not normalized */
	bool strip_hex; /* true: hexadecimal numbers are replaced: 0x1f becomes 0x... */
	struct text text;
	struct text hex;
};

/* Returns the normalized name of a frame; valid until the next call. Sets *kind to the kind of the removed suffix; to
 * NORMALNAME_NATIVE if none was removed. */
struct str normalname_name(struct normalname *normal, struct str frame, enum normalname_kind *kind);

struct str normalname_suffix(enum normalname_kind kind);

void normalname_free(struct normalname *normal);

#endif
