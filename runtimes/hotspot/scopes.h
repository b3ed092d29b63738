/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scopes.h - reads which calls are inlined at each address of an nmethod.
 *
 * For each address at which a thread may stop in an nmethod, HotSpot records the methods to which the address belongs,
 * innermost first. PcDescs, sorted by address, point into compressed scopes (pcDesc.hpp, debugInfoRec.cpp,
 * compressedStream.hpp, unsigned5.hpp of the JDK). An address belongs to the first PcDesc at or after it. JDK 20
 * changed the encoding of numbers. scopes_read detects the encoding by decoding: the outermost method of a scope must
 * be the method of the nmethod.
 */
#ifndef PJ_SCOPES_H
#define PJ_SCOPES_H

#include "runtimes/hotspot/codecache.h"

/* Tree of inlined calls. Node 0 is the compiled method itself. */
struct scopes {
	struct scope_node {
		uint32_t parent;
		/* number of the Method*, from the caller's callback */
		uint32_t method;
	} * node;
	uint32_t n, cap;
	uint32_t *slot;  /* hash table of nodes by (parent, method): index of a node; 0: free slot */
	uint32_t nslots; /* number of slots: a power of two, at least twice cap */
	/* A range of code with the same inlined calls: from the end of the previous run to `end`. */
	struct scope_run {
		uint32_t end; /* last offset of the run, inclusive, in bytes from the start of the code */
		uint32_t node;
	} * run;
	uint32_t nruns, runs_cap;
	/* Buffer for the tables of an nmethod, used again for the next nmethod. */
	char *space;
	size_t space_bytes;
};

/* Encoding of the numbers in the scopes of one JVM: the encoder adds 0 or 1 to each byte. The encoding is
 * PACKING_UNKNOWN until scopes_read has decoded a scope of several methods. */
enum scopes_packing { PACKING_UNKNOWN, PACKING_FROM_0, PACKING_FROM_1 };

/* Limit for the number of steps for one nmethod: about 25,000 addresses with scopes of 20 calls. */
#define SCOPES_STEPS_MAX (512u << 10)
/* Reads the inlined calls of an nmethod into *scopes, which is { 0 } before the first call. number(arg, method) returns
 * the caller's number of a Method*, or 0 if the Method* is invalid. *packing is the encoding of this JVM, if known; the
 * function sets it when it detects the encoding. Returns false if no call is inlined, if the tables are malformed, if
 * they need more than SCOPES_STEPS_MAX steps, or if memory->budget is exceeded. */
bool scopes_read(struct scopes *scopes, struct memory *memory, const struct vmlayout *vmlayout,
		 enum scopes_packing *packing, const struct blob *blob, uint32_t (*number)(void *arg, uint64_t method),
		 void *arg);

/* Frees all memory of scopes and sets it to { 0 }. */
void scopes_free(struct scopes *scopes);

#endif
