/* SPDX-License-Identifier: Apache-2.0 */
/*
 * normalname.h - the name of a function without what differs from build to build and from run to run.
 *
 * Kinds of code are cut off and told apart (kernel code stays what it is: another function); so are clones that
 * compilers make of parts of a function, and the numbers and addresses of classes that a JVM makes at run time.
 */
#ifndef PJ_NORMALNAME_H
#define PJ_NORMALNAME_H

#include "common/text.h"

enum canon_kind { CANON_JIT, CANON_INLINED, CANON_C1, CANON_INTERPRETED, CANON_NATIVE, CANON_KINDS };

struct canon {
	bool exact;     /* names as they are */
	bool strip_hex; /* 0x1f -> 0x... */
	struct text text;
	struct text hex;
};

/* The name of frame, valid until the next call; *kind is what canon_suffix would put behind it. */
struct str canon_name(struct canon *c, struct str frame, enum canon_kind *kind);

struct str canon_suffix(enum canon_kind kind);

void canon_free(struct canon *c);

#endif
