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
bool codelets_find(struct codelets_layout *l, const struct vmstructs *v);

/* Are all of them made, when this is the code? */
bool codelets_made(struct memory *m, const struct codecache *code);

/* Those in the blob called Interpreter. False: they are not known. */
bool codelets_take(struct codelets *c, struct memory *m, const struct codelets_layout *l,
		   const struct blob *interpreter);

/* The three as one; the blob is one of the code. False also: they may still be made. */
bool codelets_read(struct codelets *c, struct hotspot *h, const struct codecache *code, const struct blob *interpreter);
void codelets_free(struct codelets *c);

static inline struct str codelets_name(const struct codelets *c, const struct codelet *one)
{
	return (struct str){ c->names.p + one->name, one->name_n };
}

#endif
