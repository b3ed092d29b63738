/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codelets.h - splits the interpreter into its codelets, with HotSpot's names: the code of each bytecode, of entries
 * and of returns.
 *
 * AbstractInterpreter::_code is a queue of adjacent codelets, each with its size and a description (stubs.hpp,
 * interpreter.hpp of the JDK). HotSpot generates them at the start of a JVM, before the last of its stubs, and never
 * changes them. If one codelet is malformed, codelets_take returns none.
 *
 * struct codelets codelets;
 * if (codelets_read(&codelets, &hotspot, &hotspot.code, blob)) ...;
 * codelets_free(&codelets);
 */
#ifndef PJ_CODELETS_H
#define PJ_CODELETS_H

#include "runtimes/hotspot/hotspot.h"

struct codelets {
	/* Codelets of one interpreter and the text with their names. */
	struct codelet {
		uint64_t begin, end;
		size_t name, name_n; /* position and length in `names` of a name such as "Interpreter: iload" */
	} * one;                     /* sorted by address, without gaps */
	size_t n;
	struct text names;
};

/* Address of the queue, and offsets in the queue and in its codelets, from the tables that the JVM exports. */
struct codelets_layout {
	uint64_t queue; /* address of the static variable that points to the queue */
	struct vm_field buffer, begin, end, size, description;
	uint64_t header; /* size of a codelet's header in bytes; the code follows the header */
};

/* Fills *layout from the tables that the JVM exports. Returns false if the JVM does not export a field. */
bool codelets_find(struct codelets_layout *layout, const struct vmstructs *vmstructs);

/* Returns true if the interpreter is complete: the code cache has an nmethod, or a block of stubs that HotSpot
 * generates after the interpreter. */
bool codelets_made(struct memory *memory, const struct codecache *code);

/* Reads all codelets of the blob `interpreter`, which is named "Interpreter". Returns false, with empty codelets, if
 * they are not readable or malformed. The caller checks codelets_made before. */
bool codelets_take(struct codelets *codelets, struct memory *memory, const struct codelets_layout *layout,
		   const struct blob *interpreter);

/* Calls codelets_find, codelets_made and codelets_take; interpreter is one of the blobs in `code`. Returns false,
 * with empty codelets, if the codelets are not readable or may be incomplete. The caller frees the result with
 * codelets_free. */
bool codelets_read(struct codelets *codelets, struct hotspot *hotspot, const struct codecache *code,
		   const struct blob *interpreter);
void codelets_free(struct codelets *codelets);

/* Returns the name of a codelet, a part of codelets->names. */
static inline struct str codelets_name(const struct codelets *codelets, const struct codelet *one)
{
	return (struct str){ codelets->names.p + one->name, one->name_n };
}

#endif
