/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codemap.h - the code of a JVM at one moment, with names: what a perf-PID.map says.
 *
 * Scanned twice: names are read between, and only what was the same both times counts, so no name belongs to code that
 * came later. Lines ascend by address.
 */
#ifndef PJ_CODEMAP_H
#define PJ_CODEMAP_H

#include "runtimes/hotspot/hotspot.h"

struct codemap {
	struct text names;
	struct codemap_entry {
		uint64_t begin, end;
		size_t name, name_n; /* in names */
		uint32_t blob;       /* of the first scan */
	} * entry;
	size_t n, cap;
	uint64_t left_out; /* code that came, went or changed meanwhile, or whose name makes no sense */
};

struct hotspot_reason codemap_make(struct codemap *codemap, struct hotspot *hotspot, enum method_style style);
void codemap_free(struct codemap *codemap);

/* Appends it as perf reads it: "start size name", hexadecimal; hotspot: with 0x and 16 digits, as Compiler.perfmap.
 * Control bytes become \xNN. */
void codemap_print(const struct codemap *codemap, bool hotspot, struct text *text);

void codemap_line(uint64_t begin, uint64_t end, struct str name, bool hotspot, struct text *text);

#endif
