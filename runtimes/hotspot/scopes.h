/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scopes.h - reads which calls are inlined at each address of an nmethod.
 *
 * HotSpot records, for addresses at which it may stop, the methods that they belong to, innermost first: sorted PcDescs
 * point into compressed scopes (pcDesc.hpp, debugInfoRec.cpp, compressedStream.hpp, unsigned5.hpp of the JDK). An
 * address belongs to the first PcDesc at or after it. JDK 20 changed the encoding of numbers. scopes_read detects the
 * encoding by decoding: the outermost method of a scope must be the method of the nmethod.
 */
#ifndef PJ_SCOPES_H
#define PJ_SCOPES_H

#include "runtimes/hotspot/codecache.h"

/* Tree of inlined calls. Node 0 is the compiled method itself. */
struct scopes {
	struct scope_node {
		uint32_t parent;
		/* number that the caller gave the Method* */
		uint32_t method;
	} * node;
	uint32_t n, cap;
	uint32_t *slot;  /* hash table of nodes by (parent, method); 0: free */
	uint32_t nslots; /* a power of two, at least twice cap */
	/* Range of code with the same inlined calls: from the end of the run before. */
	struct scope_run {
		uint32_t end; /* last offset, inclusive, from the start of the code */
		uint32_t node;
	} * run;
	uint32_t nruns, runs_cap;
	/* Buffer of the reader, reused for the next method. */
	char *space;
	size_t space_bytes;
};

/* Encoding of the numbers in one JVM. scopes_read stores it after the first proof. */
enum scopes_packing { PACKING_UNKNOWN, PACKING_FROM_0, PACKING_FROM_1 };

/* Reads the inlined calls of an nmethod into *scopes, which starts as { 0 } and may be reused. number(arg, method)
 * maps a Method* to the caller's number, or to 0 if the Method* is invalid. *packing is the state of the JVM.
 * Returns false if no call is inlined, if the tables are malformed, if they need more than SCOPES_STEPS_MAX steps,
 * or if the budget of memory is exceeded. */
/* Limit for the calls of one method: 25,000 addresses, 20 calls deep. */
#define SCOPES_STEPS_MAX (512u << 10)
bool scopes_read(struct scopes *scopes, struct memory *memory, const struct vmlayout *vmlayout,
		 enum scopes_packing *packing, const struct blob *blob, uint32_t (*number)(void *arg, uint64_t method),
		 void *arg);

/* Frees all memory of scopes, which is { 0 } afterwards. */
void scopes_free(struct scopes *scopes);

#endif
