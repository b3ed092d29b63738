/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stubs.h - what the blocks of stubs are made of: copies, checksums, ciphers, calls, as HotSpot calls them.
 *
 * HotSpot keeps a list of all that its stub generators made, for debuggers and JVMTI (StubCodeDesc of
 * stubCodeGenerator.hpp: next, group, name, begin, end; JDK 8 has a number before begin). Its head is not exported;
 * addresses that are, in StubRoutines, do not tell where a stub ends. So the head is looked for among the pointers in
 * the data of libjvm.so, and believed only if all that hangs there makes sense: a list that ends, each with a name and
 * code, those of StubRoutines in the blocks of that name, many of them, none upon another. Else no stub has a name of
 * its own.
 */
#ifndef PJ_STUBS_H
#define PJ_STUBS_H

#include "runtimes/hotspot/hotspot.h"

struct stubs {
	struct stub {
		uint64_t begin, end;
		size_t name, name_n; /* in names: "StubRoutines: sha256_implCompress" */
	} * one;                     /* by address, disjoint; each within one of the blocks */
	size_t n;
	struct text names;
	uint64_t head, first; /* address of the pointer to the list, and what it was; 0: not found */
};

/* Those in the blocks of code that are called StubRoutines. False: none are known. stubs is empty, or what it was the
 * time before, which is quick: nothing is searched for again, and what did not change stays. */
bool stubs_read(struct stubs *stubs, struct hotspot *hotspot, const struct codecache *code);
void stubs_free(struct stubs *stubs);

static inline struct str stubs_name(const struct stubs *stubs, const struct stub *one)
{
	return (struct str){ stubs->names.p + one->name, one->name_n };
}

/* Is this the name of a block of stubs? */
bool stubs_is_block(struct str name);

#endif
