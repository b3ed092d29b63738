/* SPDX-License-Identifier: Apache-2.0 */
/*
 * untrustedmap.h - parses a perf-PID.map that another program wrote. Performs no I/O.
 *
 * A line is "start size name"; start and size are hexadecimal, with or without 0x. Entries that are invalid, too long,
 * of size 0, or overlapped by an entry of a later line, are left out and counted. Empty lines and lines that start with
 * # are skipped. Names become valid UTF-8 without control characters. The result is a codemap, like the maps that pjmap
 * makes from memory.
 */
#ifndef PJ_UNTRUSTEDMAP_H
#define PJ_UNTRUSTEDMAP_H

#include "jmap/perfmap/codemap.h"

/* maximum number of entries of a map; further lines are left out */
#define UNTRUSTEDMAP_MOST_LINES 1000000u
/* maximum length of a line in bytes; a longer line is left out */
#define UNTRUSTEDMAP_MOST_LINE 4096u
/* maximum size of a map in bytes; callers refuse a larger map */
#define UNTRUSTEDMAP_MOST_BYTES ((size_t)256 << 20)

/* Spelling of names in the input map. */
enum untrustedmap_names {
	/* names are copied unchanged */
	UNTRUSTEDMAP_AS_IS,
	/* methods are spelled as by Compiler.perfmap; the parser converts them */
	UNTRUSTEDMAP_PERFMAP,
	/* methods are spelled as by jmap/agent ("Ljava/util/HashMap;::get(Ljava/lang/Object;)Ljava/lang/Object;"); the
	 * parser converts them */
	UNTRUSTEDMAP_AGENT,
};

/* Parses a map into *codemap, whose old content is overwritten; the caller frees the result by codemap_free. style:
 * spelling of the methods that the parser converts. Sets codemap->left_out to the number of entries left out. */
void untrustedmap_read(struct codemap *codemap, struct str bytes, enum untrustedmap_names names,
		       enum method_style style);

#endif
