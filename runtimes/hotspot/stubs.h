/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stubs.h - splits the blocks of stubs into stubs with HotSpot's names: copies, checksums, ciphers, calls.
 *
 * HotSpot has a list of all generated stubs, for debuggers and JVMTI (StubCodeDesc of stubCodeGenerator.hpp: next,
 * group, name, begin, end; JDK 8 has a number before begin). The head of the list is not exported, and the exported
 * addresses in StubRoutines give no end of a stub. So stubs_read searches for the head among the pointers in the data
 * of libjvm.so. It accepts a list only if all of it is plausible: the list ends, each entry has a name and code, stubs
 * of group StubRoutines are in blocks of that name, there are many of them, and none overlaps another. If no list is
 * accepted, the stubs of a block have no names of their own.
 *
 * A search reads all of that data, but none if it has 8 MB or more; later calls read only the head of the list. Memory
 * of the JVM is hostile.
 */
#ifndef PJ_STUBS_H
#define PJ_STUBS_H

#include "runtimes/hotspot/hotspot.h"

struct stubs {
	struct stub {
		uint64_t begin, end;
		/* position and length in `names` of a name such as "StubRoutines: sha256_implCompress" */
		size_t name, name_n;
	} * one; /* sorted by address, disjoint; each within one block */
	size_t n;
	struct text names;
	/* Address of the pointer to HotSpot's list, and value of the pointer at the last read; 0: not found. */
	uint64_t head, first;
};

/* Reads the stubs in the blocks of `code` that are named StubRoutines. stubs is { 0 } before the first call. If an
 * earlier call found the list, the function does not search again, and reads the list only if its head has changed.
 * Returns false if no stub is known. */
bool stubs_read(struct stubs *stubs, struct hotspot *hotspot, const struct codecache *code);
/* Frees all memory of stubs and sets it to { 0 }. */
void stubs_free(struct stubs *stubs);

static inline struct str stubs_name(const struct stubs *stubs, const struct stub *one)
{
	return (struct str){ stubs->names.p + one->name, one->name_n };
}

/* Returns true if name, HotSpot's name of a code blob, is the name of a block of stubs. */
bool stubs_is_block(struct str name);

#endif
