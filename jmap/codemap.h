/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codemap.h - the code of a JVM at one moment, with names: what a perf-PID.map says.
 *
 * Scanned twice: names are read between, and only what was the same both times counts, so no name belongs to code that
 * came later. Lines ascend by address. Written whole or not at all, also where everybody may write: links that stand
 * in the way are replaced, never followed.
 */
#ifndef PJ_CODEMAP_H
#define PJ_CODEMAP_H

#include "hotspot.h"

struct codemap {
	struct text names;
	struct codemap_entry {
		uint64_t begin, end;
		size_t name, name_n; /* in names */
		uint32_t blob;       /* of the first scan */
	} *entry;
	size_t n, cap;
	uint64_t left_out; /* code that came, went or changed meanwhile, or whose name makes no sense */
};

struct hotspot_reason codemap_make(struct codemap *c, struct hotspot *h, enum method_style style);
void codemap_free(struct codemap *c);

/* Appends it as perf reads it: "start size name", hexadecimal; hotspot: with 0x and 16 digits, as Compiler.perfmap.
 * Control bytes become \xNN. */
void codemap_print(const struct codemap *c, bool hotspot, struct text *t);

void codemap_line(uint64_t begin, uint64_t end, struct str name, bool hotspot, struct text *t);

/* Puts the first n bytes of the file `from` into dir/name, mode 0600, owned by the user whose process it describes: no other user
 * may read the memory of that process. If we may not give files away, it stays ours. durable: the bytes survive a crash of the
 * machine. NULL, or what failed (errno). */
const char *codemap_put(const char *dir, const char *name, int from, uint64_t n, const struct taskid_user *owner, bool durable);

#endif
