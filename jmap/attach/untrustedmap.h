/* SPDX-License-Identifier: Apache-2.0 */
/*
 * untrustedmap.h - a perf-PID.map that somebody else wrote, of which nothing is believed.
 *
 * "start size name" a line, hexadecimal, with 0x or not. What is no such line, too long, empty, or overlaps what stands
 * before it is left out and counted; names become one line of UTF-8 without control bytes. What comes out is a codemap
 * like our own. Pure.
 */
#ifndef PJ_UNTRUSTEDMAP_H
#define PJ_UNTRUSTEDMAP_H

#include "jmap/perfmap/codemap.h"

#define UNTRUSTEDMAP_MOST_LINES 1000000u
#define UNTRUSTEDMAP_MOST_LINE 4096u
#define UNTRUSTEDMAP_MOST_BYTES ((size_t)256 << 20)

enum untrustedmap_names {
	UNTRUSTEDMAP_AS_IS,
	UNTRUSTEDMAP_PERFMAP, /* methods as Compiler.perfmap spells them: respelled */
	UNTRUSTEDMAP_AGENT, /* "Ljava/util/HashMap;::get(Ljava/lang/Object;)Ljava/lang/Object;", of jmap/agent: spelled
			     */
};

/* Fills codemap, which is empty; codemap->left_out counts lines. */
void untrustedmap_read(struct codemap *codemap, struct str bytes, enum untrustedmap_names names,
		       enum method_style style);

#endif
