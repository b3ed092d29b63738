/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codelets.h - what the interpreter is made of: the piece of each bytecode, of entries and of returns, as HotSpot calls
 * them.
 *
 * AbstractInterpreter::_code is a queue of codelets, one behind the other, each with its size and a description
 * (stubs.hpp, interpreter.hpp of the JDK). They are made when a JVM starts, before the last of its stubs, and stay. All
 * of them make sense, or none is told.
 */
#ifndef PJ_CODELETS_H
#define PJ_CODELETS_H

#include "runtimes/hotspot/hotspot.h"

struct codelets {
	struct codelet {
		uint64_t begin, end;
		size_t name, name_n; /* in names: "Interpreter: iload" */
	} * one;                     /* by address, without a hole */
	size_t n;
	struct text names;
};

/* Where in a queue and in its codelets things are. */
struct codelets_layout {
	uint64_t queue; /* address of the pointer to it */
	struct vm_field buffer, begin, end, size, description;
	uint64_t header; /* bytes of a codelet in front of its code */
};

/* False: the JVM does not tell. */
bool codelets_find(struct codelets_layout *layout, const struct vmstructs *vmstructs);

/* Are all of them made, when this is the code? */
bool codelets_made(struct memory *memory, const struct codecache *code);

/* Those in the blob called Interpreter. False: they are not known. */
bool codelets_take(struct codelets *codelets, struct memory *memory, const struct codelets_layout *layout,
		   const struct blob *interpreter);

/* The three as one; the blob is one of the code. False also: they may still be made. */
bool codelets_read(struct codelets *codelets, struct hotspot *hotspot, const struct codecache *code,
		   const struct blob *interpreter);
void codelets_free(struct codelets *codelets);

static inline struct str codelets_name(const struct codelets *codelets, const struct codelet *one)
{
	return (struct str){ codelets->names.p + one->name, one->name_n };
}

#endif
