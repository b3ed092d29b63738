/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scopes.h - which calls were inlined at each address of a compiled method.
 *
 * HotSpot keeps, for addresses at which it may stop, the methods that they belong to, innermost first: PcDescs,
 * sorted, point into compressed scopes (pcDesc.hpp, debugInfoRec.cpp, compressedStream.hpp, unsigned5.hpp of the JDK).
 * An address belongs to the first PcDesc at or behind it. JDK 20 changed how numbers are packed; which way holds is
 * found out by decoding: the outermost method of a scope is the compiled one.
 */
#ifndef PJ_SCOPES_H
#define PJ_SCOPES_H

#include "runtimes/hotspot/codecache.h"

/* Inlined calls as a tree: node 0 is the compiled method itself. */
struct scopes {
	struct scope_node {
		uint32_t parent;
		uint32_t method; /* as the caller numbers it */
	} * node;
	uint32_t n, cap;
	uint32_t *slot;  /* nodes by the hash of (parent, method); 0: free */
	uint32_t nslots; /* a power of two, at least twice cap */
	struct scope_run {
		uint32_t end; /* up to this offset from the begin of the code, including it */
		uint32_t node;
	} * run;
	uint32_t nruns, runs_cap;
	/* memory of the reader, kept for the next method */
	char *space;
	size_t folder_count;
};

/* How numbers are packed in one JVM. */
enum scopes_packing { PACKING_UNKNOWN, PACKING_FROM_0, PACKING_FROM_1 };

/* Fills s; number gives a Method* a number, 0: it makes no sense. False: nothing is inlined there, or it cannot be
 * told: also if the tables need more than SCOPES_STEPS_MAX steps, or the budget of m is exceeded. */
#define SCOPES_STEPS_MAX (512u << 10) /* calls looked at for one method: 25,000 addresses, 20 calls deep */
bool scopes_read(struct scopes *scopes, struct memory *memory, const struct vmlayout *vmlayout,
		 enum scopes_packing *packing, const struct blob *blob, uint32_t (*number)(void *arg, uint64_t method),
		 void *arg);

void scopes_free(struct scopes *scopes);

#endif
