/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codelets.h - what the interpreter is made of: the piece of each bytecode, of entries and of returns, as HotSpot calls them.
 *
 * AbstractInterpreter::_code is a queue of codelets, one behind the other, each with its size and a description (stubs.hpp,
 * interpreter.hpp of the JDK). They are made when a JVM starts, and stay. All of them make sense, or none is told.
 */
#ifndef PJ_CODELETS_H
#define PJ_CODELETS_H

#include "hotspot.h"

struct codelets {
	struct codelet {
		uint64_t begin, end;
		size_t name, name_n; /* in names: "Interpreter: iload" */
	} *one;                  /* by address, without a hole */
	size_t n;
	struct text names;
};

/* Those in the blob called Interpreter, which is one of the code. Before anything is compiled they may still be made, and are
 * not told. False: so, or they are not known. */
bool codelets_read(struct codelets *c, struct hotspot *h, const struct codecache *code, const struct blob *interpreter);
void codelets_free(struct codelets *c);

static inline struct str codelets_name(const struct codelets *c, const struct codelet *one)
{
	return (struct str){ c->names.p + one->name, one->name_n };
}

#endif
