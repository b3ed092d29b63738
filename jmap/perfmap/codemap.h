/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codemap.h - the code of a JVM at one time, with names: the content of a perf-PID.map.
 *
 * The code is scanned twice and names are read in between; only code that is equal in both scans counts, so no name is
 * assigned to code that appeared later. Entries are sorted by address.
 */
#ifndef PJ_CODEMAP_H
#define PJ_CODEMAP_H

#include "runtimes/hotspot/hotspot.h"

/* Code of a JVM with names. */
struct codemap {
	struct text names;
	/* an address range [begin, end) with a name */
	struct codemap_entry {
		uint64_t begin, end;
		/* offset and length of its name in codemap->names */
		size_t name, name_n;
		/* index of its code blob in the first scan */
		uint32_t blob;
	} * entry;
	size_t n, cap;
	/* number of code blobs that were left out: they appeared, disappeared or changed between the two scans, or have
	 * no valid name */
	uint64_t left_out;
};

/* Scans the code of an opened JVM and fills *codemap. Returns code NULL, or the reason of a failure. */
struct hotspot_reason codemap_make(struct codemap *codemap, struct hotspot *hotspot, enum method_style style);
void codemap_free(struct codemap *codemap);

/* Appends the map in perf's format, lines of "start size name" in hexadecimal. hotspot: with 0x and 16 digits, as
 * Compiler.perfmap writes them. Control bytes of names become \xNN. */
void codemap_print(const struct codemap *codemap, bool hotspot, struct text *text);

/* Appends one line of such a map, for the code range [begin, end). */
void codemap_line(uint64_t begin, uint64_t end, struct str name, bool hotspot, struct text *text);

#endif
