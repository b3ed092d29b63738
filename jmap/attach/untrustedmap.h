/* SPDX-License-Identifier: Apache-2.0 */
/*
 * untrustedmap.h - parser of a perf-PID.map that another program wrote. Does no input or output.
 *
 * A line is "start size name", hexadecimal, with or without 0x. Lines that are malformed, too long, empty, or overlap
 * earlier ones are left out and counted. Names become one line of UTF-8 without control bytes. The result is a codemap
 * like those of pjmap itself.
 */
#ifndef PJ_UNTRUSTEDMAP_H
#define PJ_UNTRUSTEDMAP_H

#include "jmap/perfmap/codemap.h"

/* maximum number of lines; maximum length of a line in bytes; maximum size of the input in bytes */
#define UNTRUSTEDMAP_MOST_LINES 1000000u
#define UNTRUSTEDMAP_MOST_LINE 4096u
#define UNTRUSTEDMAP_MOST_BYTES ((size_t)256 << 20)

/* Spelling of names in the input map. */
enum untrustedmap_names {
	UNTRUSTEDMAP_AS_IS,
	/* spelling of Compiler.perfmap for methods; they are converted */
	UNTRUSTEDMAP_PERFMAP,
	/* spelling of jmap/agent for methods: "Ljava/util/HashMap;::get(Ljava/lang/Object;)Ljava/lang/Object;"; they
	 * are converted */
	UNTRUSTEDMAP_AGENT,
};

/* Parses a map into *codemap, which is overwritten, and which the caller frees by codemap_free. codemap->left_out is
 * the number of invalid lines. */
void untrustedmap_read(struct codemap *codemap, struct str bytes, enum untrustedmap_names names,
		       enum method_style style);

#endif
