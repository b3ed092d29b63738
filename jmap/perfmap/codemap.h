/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codemap.h - all code of a JVM at one time, with names: the content of a perf-PID.map.
 *
 * The code is scanned twice, and names are read between the scans. Only code that is equal in both scans is used, so no
 * code has the name of other code that was at its address before. Entries are sorted by address.
 */
#ifndef PJ_CODEMAP_H
#define PJ_CODEMAP_H

#include "runtimes/hotspot/hotspot.h"

/* All code of a JVM at one time, with names. */
struct codemap {
	/* names of all entries */
	struct text names;
	/* entries, sorted by address */
	struct codemap_entry {
		/* addresses [begin, end) */
		uint64_t begin, end;
		/* offset and length of the name in codemap->names, in bytes */
		size_t name, name_n;
		/* index of the code blob in the first of the two scans of codemap_make; 0 in a map that another program
		 * wrote */
		uint32_t blob;
	} * entry;
	size_t n, cap;
	/* number of code blobs that the map lacks, because the code disappeared or changed between the scans or has no
	 * valid name; in a map that another program wrote: number of invalid and overlapping lines */
	uint64_t left_out;
};

/* Scans the code of an opened JVM and fills *codemap. Returns a reason with code NULL on success. */
struct hotspot_reason codemap_make(struct codemap *codemap, struct hotspot *hotspot, enum method_style style);
void codemap_free(struct codemap *codemap);

/* Removes the entries of code blobs that the second scan `now` lacks or that have changed since the first scan, and
 * adds the number of these blobs to codemap->left_out. before: code blobs of the first scan. */
void codemap_keep_same(struct codemap *codemap, const struct blob *before, const struct codecache *now);

/* Appends the map to `text` in perf's format: lines of "start size name", numbers in hexadecimal. hotspot: true prints
 * numbers with 0x and 16 digits, as Compiler.perfmap does; false prints them without 0x and leading zeros. Control
 * bytes of names become \xNN. */
void codemap_print(const struct codemap *codemap, bool hotspot, struct text *text);

/* Appends one line of a map for the addresses [begin, end), in the format of codemap_print with this `hotspot`. */
void codemap_line(uint64_t begin, uint64_t end, struct str name, bool hotspot, struct text *text);

#endif
